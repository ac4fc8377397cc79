// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/sweep_page.hpp>

#include <tcsolve/app/record/gnuplot.hpp>
#include <tcsolve/app/record/html.hpp>
#include <tcsolve/app/record/sweep_plots.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/version.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tcsolve {
namespace {

constexpr std::size_t most_histories = 24;  // problems whose residuals are drawn

using Figure = std::function<std::string(SweepRow const&)>;

std::string section(std::string const& title, std::string const& key, std::string const& body) {
  return cat("<section data-key=\"", key, "\"><h2>", title, "</h2>\n", body, "</section>\n");
}

std::string figure(double v) { return std::isnan(v) ? "&ndash;" : html_figure(v); }
std::string seconds(double v) { return std::isnan(v) ? "&ndash;" : html_seconds(v); }
std::string cell(std::string const& text) { return cat("<td class=\"n\">", text, "</td>"); }

/// A column for each setting, a row for each problem.
std::string matrix(Sweep const& sweep, std::vector<SweepRow> const& rows, Figure const& of) {
  std::string text = "<div class=\"wide\"><table>\n<tr><th>problem</th>";
  for (std::size_t s = 0; s < sweep.settings.size(); ++s)
    text += cat("<th class=\"n\">", html_text(sweep.setting_text(s)), "</th>");
  text += "</tr>\n";
  auto row = rows.begin();  // they come by problems, then by settings
  for (std::size_t p = 0; p < sweep.problems.size(); ++p) {
    text += cat("<tr><td>", html_text(sweep.problems[p]), "</td>");
    for (std::size_t s = 0; s < sweep.settings.size(); ++s) {
      bool const there = row != rows.end() && row->problem == p && row->setting == s;
      text += cell(there ? of(*row) : "&ndash;");
      if (there) ++row;
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string speedups(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  return section(
      "Speed-up", "speedup",
      matrix(sweep, rows,
             [&](SweepRow const& r) {
               if (!r.solved()) return html_text(r.outcome);
               if (sweep.baseline[r.setting] == r.setting) return seconds(r.median);
               if (std::isnan(r.speedup)) return seconds(r.median);
               return cat(html_figure(r.speedup), " x");
             }) +
          "<p><small>Of the median of the solves, over the baseline, which shows its own seconds. "
          "What was not solved shows its outcome.</small></p>\n");
}

std::string accuracies(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  bool const asked = sweep.config.attainable;
  return section(
      asked ? "Attainable accuracy" : "Accuracy at the end of the run", "accuracy",
      matrix(sweep, rows,
             [&](SweepRow const& r) { return figure(asked ? r.attainable : r.residual); }) +
          cat("<p><small>True residual over norm(b), of the system as it is given, in "
              "FP64",
              asked ? "; of a run with rtol 0" : "", ".</small></p>\n"));
}

std::string profile(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  constexpr double factors[] = {1, 1.1, 1.25, 1.5, 2, 4, 10};
  std::vector<double> const best = best_times(sweep, rows);
  std::string text = "<div class=\"wide\"><table>\n<tr><th>solved within</th>";
  for (double const f : factors) text += cat("<th class=\"n\">", html_figure(f), " x</th>");
  text += "</tr>\n";
  for (std::size_t s = 0; s < sweep.settings.size(); ++s) {
    text += cat("<tr><td class=\"l\">", html_text(sweep.setting_text(s)), "</td>");
    for (double const f : factors)
      text += cell(html_figure(100 * share_within(s, f, rows, best)) + " %");
    text += "</tr>\n";
  }
  return section("Performance profile", "profile",
                 text +
                     "</table></div>\n<p><small>Share of the problems that some setting solves, "
                     "by the time of set-up and solve over the shortest of the problem (Dolan "
                     "and Mor&eacute; 2002).</small></p>\n");
}

std::string runs(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::string text =
      "<div class=\"wide\"><table>\n<tr><th>problem</th><th>setting</th><th>outcome</th>"
      "<th class=\"n\">iterations</th><th class=\"n\">median</th><th class=\"n\">spread</th>"
      "<th class=\"n\">set-up</th><th class=\"n\">joules</th><th class=\"n\">true residual</th>"
      "<th>format</th><th>folder</th></tr>\n";
  for (SweepRow const& r : rows)
    text += cat("<tr><td>", html_text(sweep.problems[r.problem]), "</td><td class=\"l\">",
                html_text(sweep.setting_text(r.setting)), "</td><td title=\"", html_text(r.message),
                "\">", html_text(r.outcome), "</td>", cell(cat(r.iterations)),
                cell(seconds(r.median)), cell(figure(100 * r.spread) + " %"),
                cell(seconds(r.setup)), cell(figure(r.joules)), cell(figure(r.residual)), "<td>",
                html_text(r.format), "</td><td>", html_text(r.run), "</td></tr>\n");
  return section("Runs", "runs", text + "</table></div>\n");
}

/// Draws until something fails; what failed is said in its place.
class Plots {
 public:
  std::string add(std::string const& key, std::function<std::string()> const& svg) {
    if (!why_.empty()) return "";
    try {
      std::string const plot = inlined_svg(svg());
      return plot.empty()
                 ? ""
                 : cat("<section class=\"plot\" data-key=\"", key, "\">\n", plot, "</section>\n");
    } catch (Error const& e) {
      why_ = e.what();
      return "";
    }
  }
  /// Why there are no plots, or no more.
  std::string why() const {
    return why_.empty() ? ""
                        : cat("<p data-key=\"no-plots\"><small>Without plots: ", html_text(why_),
                              "</small></p>\n");
  }
  void none(std::string why) { why_ = std::move(why); }

 private:
  std::string why_;
};

std::string histories(Plots& plots, Sweep const& sweep, std::vector<SweepRow> const& rows,
                      std::filesystem::path const& directory) {
  std::string text;
  for (std::size_t p = 0; p < std::min(sweep.problems.size(), most_histories); ++p)
    for (Along const along : {Along::iterations, Along::seconds})
      text += plots.add(along == Along::iterations ? "by-iteration" : "by-time",
                        [&] { return history_svg(sweep, rows, p, along, directory); });
  if (text.empty()) return "";
  if (sweep.problems.size() > most_histories)
    text += cat("<p><small>", sweep.problems.size() - most_histories,
                " more problems have their histories in their folders.</small></p>\n");
  return "<h2>Residuals</h2>\n" + text;
}

}  // namespace

std::string sweep_html(Sweep const& sweep, std::vector<SweepRow> const& rows,
                       std::string const& title, std::string const& status,
                       std::filesystem::path const& directory) {
  Plots plots;
  if (!has_gnuplot()) plots.none("the program gnuplot is not on the path (Debian: gnuplot-nox)");
  std::string const speedup = plots.add("speedup-plot", [&] { return speedup_svg(sweep, rows); });
  std::string const accuracy =
      plots.add("accuracy-plot", [&] { return accuracy_svg(sweep, rows); });
  std::string const profiled = plots.add("profile-plot", [&] { return profile_svg(sweep, rows); });
  std::string const residuals = histories(plots, sweep, rows, directory);
  std::string const device = rows.empty() ? "" : rows.front().device;
  return cat(html_begin(title), "<p>", html_text(status), "</p>\n<p><small>", html_text(device),
             "; tcsolve ", version::release, " (", version::revision, ")</small></p>\n",
             plots.why(), speedups(sweep, rows), speedup, accuracies(sweep, rows), accuracy,
             sweep.settings.size() > 1 ? profile(sweep, rows) : "", profiled, residuals,
             runs(sweep, rows), html_end());
}

}  // namespace tcsolve
