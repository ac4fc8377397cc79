// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/report.hpp>

#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/record/hierarchy.hpp>
#include <tcsolve/app/record/html.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/formats/features.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

enum class Unit { none, seconds, bytes, rate, share, megahertz };

/// What the figures of an object of result.json are in, by their key.
Unit unit_of(std::string const& object, std::string const& key) {
  if (object == "clocks_mhz") return Unit::megahertz;
  if (key == "bytes_per_second" || key == "measured_bandwidth") return Unit::rate;
  if (key == "fraction_of_bandwidth" || key == "spread" || key == "share") return Unit::share;
  if (object == "seconds" || key.find("seconds") != std::string::npos) return Unit::seconds;
  if (key == "median" || key == "least" || key == "most") return Unit::seconds;
  bool const counts = key == "stored_per_entry" || key == "at_least";
  if ((object == "memory" && !counts) || key.find("bytes") != std::string::npos) return Unit::bytes;
  return Unit::none;
}

/// A value of result.json as text: numbers in three digits, none as a dash.
std::string value_text(Json const& v, Unit unit = Unit::none) {
  if (v.is_null()) return "&ndash;";
  if (v.is_boolean()) return v.get<bool>() ? "yes" : "no";
  if (!v.is_number() || (unit == Unit::none && !v.is_number_float()))
    return html_text(v.is_string() ? v.get<std::string>() : v.dump());
  double const number = v.get<double>();
  switch (unit) {
    case Unit::seconds: return html_seconds(number);
    case Unit::bytes: return byte_text(number);
    case Unit::rate: return html_figure(number / 1e9) + " GB/s";
    case Unit::share: return html_figure(100 * number) + " %";
    case Unit::megahertz: return html_figure(number) + " MHz";
    case Unit::none: break;
  }
  return html_figure(number);
}

std::string words(std::string key) {
  for (char& c : key)
    if (c == '_') c = ' ';
  return html_text(key);
}

/// A row for each number or text of an object of result.json. `object`: its key; empty: the values
/// are of keys of result.json itself, by which the rows are found.
std::string rows(Json const& values, std::string const& object) {
  std::string text;
  for (auto const& [key, v] : values.items()) {
    if (v.is_structured()) continue;
    text += cat("<tr", object.empty() ? cat(" data-key=\"", html_text(key), "\"") : "", "><td>",
                words(key), "</td><td class=\"", v.is_string() ? "t" : "n", "\">",
                value_text(v, unit_of(object, key)), "</td></tr>\n");
  }
  return text;
}

std::string section(std::string const& title, std::string const& key, std::string const& body) {
  return cat("<section data-key=\"", key, "\"><h2>", title, "</h2>\n", body, "</section>\n");
}

/// An object of result.json as a table; nothing where it is null.
std::string object_section(std::string const& title, Json const& result, std::string const& key) {
  if (!result.contains(key) || !result[key].is_object()) return "";
  return section(title, key, "<table>\n" + rows(result[key], key) + "</table>\n");
}

std::string bar(double share) {
  return cat("<span class=\"bar\" style=\"width: ", html_figure(100 * std::clamp(share, 0.0, 1.0)),
             "%\"></span>");
}

/// Seconds with bars; phases that took none are left out.
std::string ledger(Json const& seconds) {
  double const total = seconds.value("total", 0.0);
  std::string text = "<table>\n<tr><th>phase</th><th class=\"n\">time</th><th>share</th></tr>\n";
  for (auto const& [key, v] : seconds.items()) {
    if (!v.is_number() || v.get<double>() <= 0) continue;
    double const s = v.get<double>();
    text += cat("<tr><td>", words(key), "</td><td class=\"n\">", html_seconds(s),
                "</td><td style=\"width: 50%\">",
                key == "total" || total <= 0 ? "" : bar(s / total), "</td></tr>\n");
  }
  return section("Time", "seconds", text + "</table>\n");
}

/// The solve by parts, where it was profiled.
std::string profile(Json const& parts) {
  if (!parts.is_object()) return "";
  std::string text =
      "<table>\n<tr><th>part</th><th class=\"n\">calls</th><th class=\"n\">time</th>"
      "<th class=\"n\">GB/s</th><th>share</th></tr>\n";
  for (auto const& [key, p] : parts.items()) {
    Json const& rate = p["bytes_per_second"];
    text += cat("<tr><td>", words(key), "</td><td class=\"n\">", value_text(p["calls"]),
                "</td><td class=\"n\">", value_text(p["seconds"], Unit::seconds),
                "</td><td class=\"n\">",
                rate.is_number() ? html_figure(rate.get<double>() / 1e9) : "&ndash;",
                "</td><td style=\"width: 30%\">",
                p["share"].is_number() ? bar(p["share"].get<double>()) : "", "</td></tr>\n");
  }
  return section("The solve by parts", "profile",
                 text +
                     "</table>\n<p><small>Every operation was timed by itself, which takes time; "
                     "GB/s are estimates.</small></p>\n");
}

/// The method that the run ended with.
std::string method(Json const& r) {
  Json const& taken = r["taken"];
  std::string text;
  if (taken.is_object()) {
    text = cat("<p><b>", value_text(taken["label"]), "</b></p>\n");
    for (char const* const part : {"solver", "preconditioner"})
      if (taken[part].is_object())
        text += cat("<p><small>", part, ": ", html_text(taken[part].dump()), "</small></p>\n");
  }
  if (r["preconditioner"].is_string())
    text += cat("<p data-key=\"preconditioner\">", value_text(r["preconditioner"]), "</p>\n");
  return text.empty() ? "" : section("Method", "taken", text);
}

/// The levels of the preconditioner, where it has some.
std::string hierarchy(Json const& levels) {
  return levels.is_object() ? section("Levels", "hierarchy", hierarchy_html(levels)) : "";
}

/// What `auto` has tried, in turn.
std::string choices(Json const& list) {
  if (!list.is_array()) return "";
  std::string text =
      "<div class=\"wide\"><table>\n<tr><th>tried</th><th>outcome</th><th class=\"n\">iterations"
      "</th><th class=\"n\">set-up</th><th class=\"n\">solve</th>"
      "<th class=\"n\">true residual</th></tr>\n";
  for (Json const& c : list)
    text += cat("<tr><td class=\"l\">", value_text(c["label"]), "</td><td>",
                value_text(c["outcome"]), "</td><td class=\"n\">", value_text(c["iterations"]),
                "</td><td class=\"n\">", value_text(c["setup_seconds"], Unit::seconds),
                "</td><td class=\"n\">", value_text(c["solve_seconds"], Unit::seconds),
                "</td><td class=\"n\">", value_text(c["true_residual"]), "</td></tr>\n");
  return section("What auto tried", "choices", text + "</table></div>\n");
}

/// The right-hand sides, where there are several; of many the first ones.
std::string right_hand_sides(Json const& list) {
  constexpr std::size_t most = 60;
  if (!list.is_array()) return "";
  std::string text =
      "<div class=\"wide\"><table>\n<tr><th>column</th><th>outcome</th>"
      "<th class=\"n\">iterations</th><th class=\"n\">true residual</th>"
      "<th class=\"n\">of norm(b)</th></tr>\n";
  for (std::size_t j = 0; j < std::min(list.size(), most); ++j)
    text += cat("<tr><td>", j + 1, "</td><td>", value_text(list[j]["outcome"]),
                "</td><td class=\"n\">", value_text(list[j]["iterations"]), "</td><td class=\"n\">",
                value_text(list[j]["true_residual"]), "</td><td class=\"n\">",
                value_text(list[j]["true_relative"]), "</td></tr>\n");
  text += "</table></div>\n";
  if (list.size() > most)
    text += cat("<p><small>", list.size() - most, " more are in result.json</small></p>\n");
  return section("Right-hand sides", "columns", text);
}

/// Many systems: how they ended, and how long they took.
std::string many_systems(Json const& systems) {
  if (!systems.is_object()) return "";
  std::string text = "<table>\n" + rows(systems, "systems");
  for (char const* const part : {"outcomes", "iterations"})
    for (auto const& [key, v] : systems[part].items())
      text += cat("<tr><td>", part, ": ", html_text(key), "</td><td class=\"n\">", value_text(v),
                  "</td></tr>\n");
  return section("Systems", "systems",
                 text + "</table>\n<p><small>A line for each is in systems.csv</small></p>\n");
}

/// What the matrix was stored in and the vectors were, in turn, and why `precision: auto` chose so.
std::string precisions(Json const& list, Json const& choice) {
  if (!list.is_array() || list.empty()) return "";
  std::string text =
      "<table>\n<tr><th>values</th><th>vectors</th><th "
      "class=\"n\">iterations</th><th>ended</th></tr>\n";
  for (Json const& p : list)
    text += cat("<tr><td>", value_text(p["values"]), "</td><td>", value_text(p["vectors"]),
                "</td><td class=\"n\">", value_text(p["iterations"]), "</td><td class=\"t\">",
                p["why"].is_null() ? "" : value_text(p["why"]), "</td></tr>\n");
  text += "</table>\n";
  if (choice.is_string())
    text += cat("<p data-key=\"precision_choice\">auto took ", value_text(choice), "</p>\n");
  return section("Precision", "precision", text);
}

/// The order that the matrix was put in.
std::string reordering(Json const& order) {
  if (!order.is_object()) return "";
  std::string text = "<table>\n" + rows(order, "reordering");
  for (char const* const when : {"before", "after"})
    if (order[when].is_object())
      for (auto const& [key, v] : order[when].items())
        text += cat("<tr><td>", words(key), " ", when, "</td><td class=\"n\">", value_text(v),
                    "</td></tr>\n");
  return section("Order of rows", "reordering", text + "</table>\n");
}

/// What each rank had.
std::string ranks(Json const& list) {
  if (!list.is_array()) return "";
  std::string text = "<table>\n<tr><th>rank</th>";
  for (auto const& [key, v] : list.front().items())
    text += cat("<th class=\"n\">", words(key), "</th>");
  text += "</tr>\n";
  int rank = 0;
  for (Json const& r : list) {
    text += cat("<tr><td>", rank++, "</td>");
    for (auto const& [key, v] : r.items()) text += cat("<td class=\"n\">", value_text(v), "</td>");
    text += "</tr>\n";
  }
  return section("Ranks", "ranks", text + "</table>\n");
}

/// A word as a shell takes it.
std::string shell_word(std::string const& word) {
  constexpr char const* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (char const c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Where and when: the words of the command as a shell takes them.
std::string process(Json const& p) {
  std::string command;
  for (Json const& word : p["command"])
    command += (command.empty() ? "" : " ") + shell_word(word.get<std::string>());
  return section(
      "Where and when", "process",
      cat("<table>\n", rows(p, "process"), "</table>\n<pre>", html_text(command), "</pre>\n"));
}

std::string files(Json const& f) {
  std::string text;
  for (auto const& [key, v] : f.items())
    if (v.is_string()) text += (text.empty() ? "" : ", ") + value_text(v);
  for (Json const& part : f["solution_parts"].is_array() ? f["solution_parts"] : Json::array())
    text += (text.empty() ? "" : ", ") + value_text(part["file"]);
  for (Json const& why : f["failed"]) text += "<br>missing: " + value_text(why);
  return section("Files", "files", cat("<p>result.json, ", text, "</p>\n"));
}

std::string formats(Plan const& plan, Json const& taken) {
  std::string text =
      "<div class=\"wide\"><table>\n<tr><th>format</th><th class=\"n\">MB</th>"
      "<th class=\"n\">product, &micro;s</th>"
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
      text += cat("<td class=\"n\">", html_figure(v), "</td>");
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string list(Json const& warnings) {
  std::string text;
  for (Json const& w : warnings) text += cat("<li>", value_text(w), "</li>\n");
  return text.empty() ? "" : section("Warnings", "warnings", "<ul>\n" + text + "</ul>\n");
}

/// The drawn history, where there is one.
std::string convergence(std::string const& plot) {
  if (plot.empty()) return "";
  return cat("<section class=\"plot\"><h2>Convergence</h2>\n", inlined_svg(plot), "</section>\n");
}

}  // namespace

MatrixPicture picture_of(Context const& ctx, Csr<double> const& a) {
  Context host(Backend::host);
  return {spy_counts(a), make_plan(features(host, a.view()), {}, CostTable::shipped(ctx))};
}

std::string report_html(std::string const& result, std::string const& config,
                        std::string const& plot, MatrixPicture const& picture) {
  Json const r = Json::parse(result);
  Json const& verdict = r["verdict"];
  bool const good = r["verdict"]["exit_code"] == 0;
  std::string const source = r["problem"]["source"].get<std::string>();
  std::string const title = source.substr(source.rfind('/') + 1);
  Json of_run = Json::object();
  for (char const* const key : {"iterations", "restarts", "solution_error", "joules", "joules_note",
                                "format", "backend", "device", "driver"})
    of_run[key] = r[key];
  return cat(html_begin(title), "<div class=\"verdict ", good ? "good" : "bad",
             "\" data-key=\"verdict\"><b>", value_text(verdict["outcome"]), "</b> (exit code ",
             value_text(verdict["exit_code"]), ")<br>\n", value_text(verdict["message"]),
             "</div>\n", list(r["warnings"]), method(r), hierarchy(r["hierarchy"]),
             choices(r["choices"]), right_hand_sides(r["columns"]), many_systems(r["systems"]),
             convergence(plot),
             "<div class=\"columns\">\n<section data-key=\"problem\"><h2>System</h2>\n<table>\n",
             rows(r["problem"], "problem"), rows(of_run, ""), "</table>\n</section>\n",
             object_section("Residual", r, "residual"), ledger(r["seconds"]), profile(r["profile"]),
             object_section("Repeated solves", r, "repeat"),
             "<section class=\"spy\"><h2>Entries of the matrix</h2>\n", spy_svg(picture.spy),
             "<p><small>", picture.spy.rows, " x ", picture.spy.cols, "; a cell holds about ",
             html_figure(double(picture.spy.rows) / picture.spy.high), " x ",
             html_figure(double(picture.spy.cols) / picture.spy.wide),
             " of them, darker where more are stored</small></p></section>\n",
             precisions(r["precision"], r["precision_choice"]),
             object_section("Rounding of the matrix", r, "rounding"), reordering(r["reordering"]),
             ranks(r["ranks"]), object_section("Ranks: largest over mean", r, "imbalance"),
             object_section("Work", r, "work"), object_section("Memory", r, "memory"),
             object_section("Memory traffic, estimated", r, "traffic_estimate"),
             object_section("Clocks", r, "clocks_mhz"), object_section("Versions", r, "versions"),
             process(r["process"]), files(r["files"]), "</div>\n",
             "<section><h2>Formats considered</h2>\n", formats(picture.plan, r["format"]),
             "<p><small>Predicted for ", html_figure(picture.plan.request.applies),
             " products in FP64, ", html_text(picture.plan.device),
             "; the one that the run ended with is bold.</small></p></section>\n",
             section("Config", "config", cat("<pre>", html_text(config), "</pre>\n")), html_end());
}

}  // namespace tcsolve
