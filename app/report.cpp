// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/report.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/formats/choose/features.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

// What the browser may do: show this page.
constexpr char const* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2733; background: #fff;
  max-width: 64rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .5rem; }
.verdict { border-left: .4rem solid; padding: .6rem .9rem; margin: 1rem 0; background: #f4f6f8;
  overflow-wrap: anywhere; }
.good { border-color: #2e7d4f; } .bad { border-color: #c23b22; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 2.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #e3e7eb;
  vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { background: #3a72b5; height: .7rem; display: block; min-width: 1px; }
pre { background: #f4f6f8; padding: .8rem; overflow-x: auto; }
svg { max-width: 100%; height: auto; } .spy svg { width: 100%; max-width: 26rem; }
small { color: #5b6876; }
</style>
)";

std::string figure(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

/// A value of result.json as text: numbers in three digits, none as a dash.
std::string value_text(Json const& v) {
  if (v.is_null()) return "&ndash;";
  if (v.is_number_float()) return figure(v.get<double>());
  return html_text(v.is_string() ? v.get<std::string>() : v.dump());
}

std::string words(std::string key) {
  for (char& c : key)
    if (c == '_') c = ' ';
  return html_text(key);
}

/// A row for each number or text of an object.
std::string rows(Json const& object) {
  std::string text;
  for (auto const& [key, v] : object.items())
    if (!v.is_structured())
      text += cat("<tr><td>", words(key), "</td><td class=\"n\">", value_text(v), "</td></tr>\n");
  return text;
}

std::string table(Json const& object) { return "<table>\n" + rows(object) + "</table>\n"; }

/// Seconds with bars; phases that took none are left out.
std::string ledger(Json const& seconds) {
  double const total = seconds.value("total", 0.0);
  std::string text = "<table>\n<tr><th>phase</th><th class=\"n\">seconds</th><th>share</th></tr>\n";
  for (auto const& [key, v] : seconds.items()) {
    if (!v.is_number() || v.get<double>() <= 0) continue;
    double const s = v.get<double>();
    std::string const bar =
        key == "total" || total <= 0
            ? ""
            : cat("<span class=\"bar\" style=\"width: ", figure(100 * s / total), "%\"></span>");
    text += cat("<tr><td>", words(key), "</td><td class=\"n\">", figure(s), "</td><td>", bar,
                "</td></tr>\n");
  }
  return text + "</table>\n";
}

std::string formats(Plan const& plan, Json const& taken) {
  std::string text =
      "<table>\n<tr><th>format</th><th class=\"n\">MB</th><th class=\"n\">product, &micro;s</th>"
      "<th class=\"n\">step, &micro;s</th><th class=\"n\">conversion, ms</th>"
      "<th class=\"n\">in all, ms</th></tr>\n";
  for (Candidate const& c : plan.candidates) {
    std::string const name = html_text(c.format->name);
    text += cat("<tr><td>", taken == c.format->name ? "<b>" + name + "</b>" : name, "</td>");
    if (!c.excluded.empty()) {
      text += cat("<td colspan=\"5\">", html_text(c.excluded), "</td></tr>\n");
      continue;
    }
    for (double const v : {c.bytes / 1e6, c.product, c.step, c.conversion / 1e3, c.total / 1e3})
      text += cat("<td class=\"n\">", figure(v), "</td>");
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

std::string list(Json const& warnings) {
  std::string text;
  for (Json const& w : warnings) text += cat("<li>", value_text(w), "</li>\n");
  return text.empty() ? "" : "<h2>Warnings</h2>\n<ul>\n" + text + "</ul>\n";
}

/// An SVG document without its prologue.
std::string inlined(std::string const& svg) {
  std::size_t const start = svg.find("<svg");
  return start == std::string::npos ? "" : svg.substr(start);
}

}  // namespace

std::string html_text(std::string const& text) {
  std::string out;
  for (char const c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

MatrixPicture picture_of(Context const& ctx, Csr<double> const& a) {
  Context host(Backend::host);
  return {spy_counts(a), make_plan(features(host, a.view()), {}, CostTable::shipped(ctx))};
}

std::string report_html(std::string const& result, std::string const& config,
                        std::string const& plot, MatrixPicture const& picture) {
  Json const r = Json::parse(result);
  Json const& verdict = r["verdict"];
  bool const good = r["verdict"]["exit_code"] == 0;
  std::string const source = value_text(r["problem"]["source"]);
  Json problem = r["problem"];
  problem.erase("source");
  problem["iterations"] = r["iterations"];
  problem["format"] = r["format"];
  problem["backend"] = r["backend"];
  problem["device"] = r["device"];
  problem["tcsolve"] = r["versions"]["tcsolve"];
  problem["revision"] = r["versions"]["revision"];
  return cat(
      head, "<title>tcsolve: ", source, "</title>\n</head>\n<body>\n<h1>", source, "</h1>\n",
      "<div class=\"verdict ", good ? "good" : "bad", "\"><b>", value_text(verdict["outcome"]),
      "</b> (exit code ", value_text(verdict["exit_code"]), ")<br>\n",
      value_text(verdict["message"]), "</div>\n", list(r["warnings"]), "<h2>Convergence</h2>\n",
      inlined(plot), "<div class=\"columns\">\n<section><h2>System</h2>\n", table(problem),
      "</section>\n<section><h2>Residual</h2>\n", table(r["residual"]),
      "</section>\n<section><h2>Time</h2>\n", ledger(r["seconds"]),
      r.contains("repeat") && r["repeat"].is_object()
          ? "<h2>Repeated solves</h2>\n" + table(r["repeat"])
          : "",
      "<h2>Memory traffic, estimated</h2>\n", table(r["traffic_estimate"]), "<h2>Memory</h2>\n",
      table(r["memory"]), "<h2>Work</h2>\n", table(r["work"]),
      "</section>\n<section class=\"spy\"><h2>Entries of the matrix</h2>\n", spy_svg(picture.spy),
      "<p><small>", picture.spy.rows, " x ", picture.spy.cols, "; a cell holds about ",
      figure(double(picture.spy.rows) / picture.spy.high), " x ",
      figure(double(picture.spy.cols) / picture.spy.wide),
      " of them, darker where more are stored</small></p></section>\n</div>\n",
      "<h2>Formats considered</h2>\n", formats(picture.plan, r["format"]),
      "<p><small>Predicted for ", figure(picture.plan.request.applies), " products in FP64, ",
      html_text(picture.plan.device), "; the one that the run ended with is bold.</small></p>\n",
      "<h2>Config</h2>\n<pre>", html_text(config), "</pre>\n</body>\n</html>\n");
}

}  // namespace tcsolve
