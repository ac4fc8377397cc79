// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/explain.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <array>

namespace tcsolve {
namespace {

using Row = std::vector<std::string>;

std::string markdown_cell(std::string const& text) {
  std::string out;
  for (char const c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

std::string markdown(std::vector<Row> const& rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += "|";
    for (std::string const& cell : rows[i]) out += " " + markdown_cell(cell) + " |";
    out += "\n";
    if (i > 0) continue;
    out += "|";
    for (std::size_t j = 0; j < rows[i].size(); ++j) out += "---|";
    out += "\n";
  }
  return out;
}

/// Columns two spaces apart; the last one runs on.
std::string aligned(std::vector<Row> const& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (Row const& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  std::string out;
  for (Row const& row : rows) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      line += row[j];
      if (j + 1 < row.size()) line += std::string(widths[j] + 2 - row[j].size(), ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string table(std::vector<Row> const& rows, TextStyle style) {
  return style == TextStyle::markdown ? markdown(rows) : aligned(rows);
}

}  // namespace

std::string key_table(std::vector<KeyDoc> const& docs, TextStyle style) {
  if (docs.empty()) return "no keys\n";
  std::vector<Row> rows{{"key", "type", "default", "range", "meaning"}};
  for (KeyDoc const& d : docs) rows.push_back({d.key, d.type, d.default_value, d.range, d.doc});
  return table(rows, style);
}

std::string entry_table(RegistryBase const& registry, TextStyle style) {
  std::vector<Row> rows{{registry.kind(), "meaning"}};
  for (auto const& entry : registry.entries()) rows.push_back({entry.name, entry.doc});
  return table(rows, style);
}

std::string explain(std::vector<KeyDoc> const& config, Catalog const& catalog,
                    std::string const& path, TextStyle style) {
  if (path.empty()) return key_table(config, style);
  std::size_t const dot = path.find('.');
  auto const registry = catalog.registries().find(path.substr(0, dot));
  if (registry != catalog.registries().end()) {
    if (dot == std::string::npos) return entry_table(*registry->second, style);
    return key_table(registry->second->keys_of(path.substr(dot + 1)), style);
  }
  std::vector<KeyDoc> rows;
  std::vector<std::string> known;
  for (KeyDoc const& row : config) {
    if (row.key == path || row.key.starts_with(path + ".")) rows.push_back(row);
    if (dot != std::string::npos || row.key.find('.') == std::string::npos)
      known.push_back(row.key);
  }
  if (!rows.empty()) return key_table(rows, style);
  for (auto const& [kind, entries] : catalog.registries())
    if (std::find(known.begin(), known.end(), kind) == known.end()) known.push_back(kind);
  throw ConfigError(cat("nothing is called '", shown(path), "'", suggestion(path, known)));
}

std::string reference_page(RegistryBase const& registry) {
  std::string page = entry_table(registry, TextStyle::markdown);
  for (auto const& entry : registry.entries())
    page += cat("\n## ", entry.name, "\n\n", entry.doc, "\n\n",
                key_table(registry.keys_of(entry.name), TextStyle::markdown));
  return page;
}

}  // namespace tcsolve
