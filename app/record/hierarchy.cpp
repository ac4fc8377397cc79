// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/hierarchy.hpp>

#include <tcsolve/app/record/html.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve {

using Json = nlohmann::ordered_json;

Json hierarchy_json(std::optional<HierarchyFacts> const& facts) {
  if (!facts) return nullptr;
  Json levels = Json::array();
  for (LevelFacts const& l : facts->levels) {
    levels.push_back({{"rows", l.rows},
                      {"entries", l.entries},
                      {"strength", l.strength},
                      {"prolongation", l.prolongation},
                      {"values", l.values},
                      {"formats", l.formats},
                      {"bytes", l.bytes}});
    if (l.product > 0) levels.back()["us"] = l.product;  // by `info --amg` alone
  }
  Json seconds = Json::object();
  for (auto const& [part, took] : facts->seconds) seconds[part] = took;
  return {{"grid_complexity", facts->grid_complexity},
          {"operator_complexity", facts->operator_complexity},
          {"unknowns", facts->unknowns},
          {"near_nullspace", facts->near_nullspace},
          {"levels", levels},
          {"seconds", seconds}};
}

std::string hierarchy_html(Json const& h) {
  std::string text =
      "<div class=\"wide\"><table>\n<tr><th class=\"n\">rows</th><th class=\"n\">entries</th>"
      "<th class=\"n\">strength</th><th class=\"n\">entries of P</th><th>values</th>"
      "<th class=\"n\">MB</th><th>A, P, R</th></tr>\n";
  auto const number = [](Json const& v) {
    return cat("<td class=\"n\">",
               v.is_number_float() ? html_figure(v.get<double>()) : html_text(v.dump()), "</td>");
  };
  for (Json const& l : h["levels"])
    text += cat("<tr>", number(l["rows"]), number(l["entries"]), number(l["strength"]),
                number(l["prolongation"]), "<td>", html_text(l["values"].get<std::string>()),
                "</td>", number(Json(l["bytes"].get<double>() / 1e6)), "<td>",
                html_text(l["formats"].get<std::string>()), "</td></tr>\n");
  text += "</table></div>\n<table>\n";
  for (char const* const key : {"grid_complexity", "operator_complexity", "unknowns"}) {
    std::string words = key;
    for (char& c : words) c = c == '_' ? ' ' : c;
    text += cat("<tr><td>", words, "</td>", number(h[key]), "</tr>\n");
  }
  for (Json const& ratio : h["near_nullspace"])
    text += cat("<tr><td>|A z| / (|A| |z|)</td>", number(ratio), "</tr>\n");
  for (auto const& [part, took] : h["seconds"].items())
    text += cat("<tr><td>", html_text(part), "</td><td class=\"n\">",
                html_seconds(took.get<double>()), "</td></tr>\n");
  return text + "</table>\n";
}

}  // namespace tcsolve
