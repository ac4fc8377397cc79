// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/sweep_plots.hpp>

#include <tcsolve/app/record/gnuplot.hpp>
#include <tcsolve/app/record/output_directory.hpp>
#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace tcsolve {
namespace {

constexpr std::size_t most_points = 500;
constexpr char const* colours[] = {"#1f5fa8", "#c23b22", "#2e7d4f", "#8a5a00",
                                   "#7b3fa0", "#0f8b8d", "#5b6876", "#d0679d"};
constexpr std::size_t some_colours = std::size(colours);

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

/// "lc rgb '#..' dt 2": a colour, and another dash where colours come again.
std::string style(std::size_t k) {
  return cat("lc rgb '", colours[k % some_colours], "' dt ", 1 + k / some_colours % 5);
}

std::string begin(std::string const& title, std::string const& x, std::string const& y) {
  return cat(
      "set terminal svg size 960,480 font 'sans-serif,14' background rgb 'white'\nset title ",
      gnuplot_text(title), " noenhanced\nset xlabel ", gnuplot_text(x), "\nset ylabel ",
      gnuplot_text(y), "\nset grid\nset key outside bottom center horizontal noenhanced\n");
}

/// A curve or a row of marks: how it is drawn, what the key calls it, its lines of data.
struct Series {
  std::string with, title, data;
};

/// Appends data and the plot of it.
std::string drawn_series(std::string script, std::vector<Series> const& all) {
  for (std::size_t k = 0; k < all.size(); ++k)
    script += cat("$s", k, " << END\n", all[k].data, "END\n");
  script += "plot ";
  for (std::size_t k = 0; k < all.size(); ++k)
    script +=
        cat(k > 0 ? ", " : "", "$s", k, " ", all[k].with, " title ", gnuplot_text(all[k].title));
  return drawn(script + "\n");
}

/// "x y" lines of history.csv, y over the first residual; what a logarithmic axis cannot show is
/// left out.
std::string curve(std::filesystem::path const& file, Along along) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  std::string row;
  std::getline(in, row);  // the names of the columns
  double scale = 0;
  while (std::getline(in, row)) {
    // iteration,residual,rate,seconds,...; what is not known is empty
    std::string part[4];
    std::size_t at = 0;
    for (std::string& p : part) {
      std::size_t const end = std::min(row.find(',', at), row.size());
      p = row.substr(at, end - at);
      at = std::min(end + 1, row.size());
    }
    double const y = std::strtod(part[1].c_str(), nullptr);
    if (scale == 0) scale = y;
    std::string const& x = part[along == Along::iterations ? 0 : 3];
    if (y > 0 && std::isfinite(y) && scale > 0 && !x.empty())
      lines.push_back(cat(x, " ", number(y / scale), "\n"));
  }
  std::string text;
  std::size_t const stride =
      std::max<std::size_t>(1, (lines.size() + most_points - 1) / most_points);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i % stride == 0 || i + 1 == lines.size()) text += lines[i];
  return text;
}

/// One column of text a problem, and a value of each row in it.
std::vector<Series> by_problem(Sweep const& sweep, std::vector<SweepRow> const& rows,
                               std::function<double(SweepRow const&)> const& value,
                               std::function<std::string(std::size_t)> const& with) {
  std::vector<Series> all;
  for (std::size_t s = 0; s < sweep.settings.size() && all.size() < most_curves; ++s) {
    Series series{with(all.size()), sweep.setting_text(s), ""};
    bool some = false;
    for (std::size_t p = 0; p < sweep.problems.size(); ++p) {
      auto const row = std::ranges::find_if(
          rows, [&](SweepRow const& r) { return r.problem == p && r.setting == s; });
      double const v = row == rows.end() ? SweepRow::unknown : value(*row);
      bool const known = v > 0 && std::isfinite(v);
      some |= known;
      series.data += cat(p, " ", known ? number(v) : "NaN", "\n");
    }
    if (some) all.push_back(std::move(series));
  }
  return all;
}

/// The names below the axis, a long one cut: the tables have it whole.
std::string problem_ticks(Sweep const& sweep) {
  constexpr std::size_t most = 24;
  std::string ticks;
  for (std::size_t p = 0; p < sweep.problems.size(); ++p) {
    std::string const& name = sweep.problems[p];
    ticks += cat(p > 0 ? ", " : "",
                 gnuplot_text(name.size() > most ? name.substr(0, most - 2) + ".." : name), " ", p);
  }
  return cat("set xtics rotate by -25 noenhanced (", ticks,
             ")\nset xrange [-0.6:", sweep.problems.size() - 0.4, "]\n");
}

}  // namespace

std::string history_svg(Sweep const& sweep, std::vector<SweepRow> const& rows, std::size_t problem,
                        Along along, std::filesystem::path const& directory) {
  std::vector<Series> all;
  for (SweepRow const& row : rows) {
    if (row.problem != problem || all.size() == most_curves) continue;
    std::string data = curve(directory / row.run / record::history_name, along);
    if (data.empty()) continue;
    all.push_back({cat("with lines lw 2 ", style(all.size())), sweep.setting_text(row.setting),
                   std::move(data)});
  }
  if (all.empty()) return "";
  return drawn_series(
      begin(sweep.problems[problem], along == Along::iterations ? "iteration" : "seconds",
            "residual / that of x0") +
          "set logscale y\nset format y '10^{%L}'\nset xrange [0:*]\n",
      all);
}

std::string speedup_svg(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::vector<Series> all = by_problem(
      sweep, rows,
      [&](SweepRow const& r) {
        return sweep.baseline[r.setting] == r.setting ? SweepRow::unknown : r.speedup;
      },
      [](std::size_t) { return std::string(); });
  if (all.empty()) return "";
  // Bars side by side, together four fifths of the room of a problem.
  double const width = 0.8 / static_cast<double>(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k].with = cat("using ($1 + ", number((static_cast<double>(k) + 0.5) * width - 0.4), "):2:(",
                      number(width), ") with boxes fs solid 0.8 ", style(k));
  all.push_back(
      {"with lines lw 1.5 dt 2 lc rgb '#666666'", "baseline",
       cat("-0.6 1\n", number(static_cast<double>(sweep.problems.size()) - 0.4), " 1\n")});
  return drawn_series(begin("Speed-up of the solve", "", "times as fast as the baseline") +
                          problem_ticks(sweep) + "set yrange [0:*]\n",
                      all);
}

std::string accuracy_svg(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  bool const asked =
      std::ranges::any_of(rows, [](SweepRow const& r) { return !std::isnan(r.attainable); });
  std::vector<Series> const all = by_problem(
      sweep, rows, [&](SweepRow const& r) { return asked ? r.attainable : r.residual; },
      [](std::size_t k) { return cat("with points ps 1.2 pt ", 1 + k % 13, " lw 2 ", style(k)); });
  if (all.empty()) return "";
  return drawn_series(begin(asked ? "Attainable accuracy" : "Accuracy at the end of the run", "",
                            "true residual / norm(b)") +
                          problem_ticks(sweep) + "set logscale y\nset format y '10^{%L}'\n",
                      all);
}

std::string profile_svg(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::vector<double> const best = best_times(sweep, rows);
  std::vector<std::vector<double>> ratios(sweep.settings.size());
  double last = 1;
  for (SweepRow const& row : rows)
    if (double const ratio = ratio_to_best(row, best); std::isfinite(ratio)) {
      ratios[row.setting].push_back(ratio);
      last = std::max(last, 1.2 * ratio);
    }
  if (sweep.settings.size() < 2 || last == 1) return "";
  std::vector<Series> all;
  for (std::size_t s = 0; s < std::min(ratios.size(), most_curves); ++s) {
    std::ranges::sort(ratios[s]);
    Series series{cat("with steps lw 2 ", style(s)), sweep.setting_text(s), "1 0\n"};
    for (double const factor : ratios[s])
      series.data += cat(number(factor), " ", number(share_within(s, factor, rows, best)), "\n");
    series.data += cat(number(last), " ", number(share_within(s, last, rows, best)), "\n");
    all.push_back(std::move(series));
  }
  return drawn_series(begin("Performance profile: set-up and solve",
                            "time over the shortest of the problem", "share of problems") +
                          cat("set logscale x\nset xtics (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, "
                              "1000)\nset yrange [0:1.05]\nset xrange [1:",
                              number(last), "]\n"),
                      all);
}

}  // namespace tcsolve
