// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/explain.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

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

/// `text` after `line`, broken at spaces before `width` characters; later lines begin with `indent`
/// spaces. A word longer than a line is not broken.
std::string wrapped(std::string line, std::string const& text, std::size_t indent,
                    std::size_t width) {
  std::string out;
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && width > 0 && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = std::string(indent, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
  }
  return out + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

/// The last column below the others, where these take more than half of a line.
std::string stacked(std::vector<Row> const& rows, std::size_t width) {
  std::string out;
  for (Row const& row : rows) {
    std::string head;
    for (std::size_t j = 1; j + 1 < row.size(); ++j)
      if (!row[j].empty()) head += (head.empty() ? "" : "; ") + row[j];
    out += wrapped(row[0] + "  ", head, 8, width) + wrapped("    ", row.back(), 4, width);
  }
  return out;
}

/// Columns two spaces apart; the last one is wrapped at `width`, 0: nowhere.
std::string aligned(std::vector<Row> const& rows, std::size_t width) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (Row const& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  std::size_t head = 0;
  for (std::size_t j = 0; j + 1 < widths.size(); ++j) head += widths[j] + 2;
  bool const fits = width == 0 || head + widths.back() <= width;
  if (!fits && 2 * head > width) return stacked(rows, width);
  std::string out;
  for (Row const& row : rows) {
    std::string line;
    for (std::size_t j = 0; j + 1 < row.size(); ++j)
      line += row[j] + std::string(widths[j] + 2 - row[j].size(), ' ');
    out += wrapped(line, row.back(), head, fits ? 0 : width);
  }
  return out;
}

std::string table(std::vector<Row> const& rows, TextStyle style, std::size_t width) {
  return style == TextStyle::markdown ? markdown(rows) : aligned(rows, width);
}

/// The keys of an entry, those called `key` or below it; all of them where it is "".
std::vector<KeyDoc> keys_below(RegistryBase const& registry, std::string const& entry,
                               std::string const& key) {
  std::vector<KeyDoc> found, all = registry.keys_of(entry);
  std::vector<std::string> known;
  for (KeyDoc const& doc : all) {
    known.push_back(doc.key);
    if (key.empty() || doc.key == key || doc.key.starts_with(key + ".")) found.push_back(doc);
  }
  if (!found.empty() || key.empty()) return found;
  throw ConfigError(
      cat(registry.kind(), " '", entry, "' has no key '", shown(key), "'", suggestion(key, known)));
}

std::string entry_page(RegistryBase const& registry, std::string const& path, TextStyle style,
                       std::size_t width) {
  std::size_t const dot = path.find('.');
  std::string const name = path.substr(0, dot);
  std::string const key = dot == std::string::npos ? "" : path.substr(dot + 1);
  std::vector<KeyDoc> const keys = keys_below(registry, name, key);
  std::string doc;
  for (auto const& entry : registry.entries())
    if (entry.name == name && key.empty())
      doc = wrapped(cat(registry.kind(), " '", name, "': "), entry.doc, 2, width) + "\n";
  return doc + key_table(keys, style, width);
}

/// Every entry called `name`, and every key of that name of every entry.
std::string named_anywhere(Catalog const& catalog, std::string const& name, TextStyle style,
                           std::size_t width) {
  std::string pages;
  std::vector<KeyDoc> keys;
  for (auto const& [kind, registry] : catalog.registries())
    for (auto const& entry : registry->entries()) {
      std::size_t const dot = name.find('.');
      if (entry.name == name.substr(0, dot))
        pages += (pages.empty() ? "" : "\n") + entry_page(*registry, name, style, width);
      for (KeyDoc doc : registry->keys_of(entry.name)) {
        if (doc.key != name) continue;
        doc.key = cat(kind, ".", entry.name, ".", name);
        keys.push_back(std::move(doc));
      }
    }
  if (!keys.empty()) pages += (pages.empty() ? "" : "\n") + key_table(keys, style, width);
  return pages;
}

}  // namespace

std::string key_table(std::vector<KeyDoc> const& docs, TextStyle style, std::size_t width) {
  if (docs.empty()) return "no keys\n";
  std::vector<Row> rows{{"key", "type", "default", "range", "meaning"}};
  for (KeyDoc const& d : docs) rows.push_back({d.key, d.type, d.default_value, d.range, d.doc});
  return table(rows, style, width);
}

std::string entry_table(RegistryBase const& registry, TextStyle style, std::size_t width) {
  std::vector<Row> rows{{registry.kind(), "meaning"}};
  for (auto const& entry : registry.entries()) rows.push_back({entry.name, entry.doc});
  return table(rows, style, width);
}

std::string explain(std::vector<KeyDoc> const& config, Catalog const& catalog,
                    std::string const& given, TextStyle style, std::size_t width) {
  if (given.empty()) return key_table(config, style, width);
  std::string path = given;
  // The path of --set: a registry's block stands in another block.
  if (path.starts_with("problem.") && catalog.registries().contains("generator") &&
      (path + ".").starts_with("problem.generator."))
    path = path.substr(std::string_view("problem.").size());
  std::size_t const dot = path.find('.');
  auto const registry = catalog.registries().find(path.substr(0, dot));
  if (registry != catalog.registries().end()) {
    if (dot == std::string::npos) return entry_table(*registry->second, style, width);
    return entry_page(*registry->second, path.substr(dot + 1), style, width);
  }
  std::vector<KeyDoc> rows;
  std::vector<std::string> known;
  for (KeyDoc const& row : config) {
    if (row.key == path || row.key.starts_with(path + ".")) rows.push_back(row);
    if (dot != std::string::npos || row.key.find('.') == std::string::npos)
      known.push_back(row.key);
  }
  if (!rows.empty()) return key_table(rows, style, width);
  if (std::string const pages = named_anywhere(catalog, path, style, width); !pages.empty())
    return pages;
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
