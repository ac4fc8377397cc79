// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/diagnostics.hpp>

#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/configs/schema/synonyms.hpp>
#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <tuple>

namespace tcsolve {
namespace {

constexpr std::size_t longest_shown = 60;  // bytes of a key or value
constexpr std::size_t most_shown = 100;    // problems

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Insertions, deletions, substitutions and swaps of neighbours that lead from a to b: the "optimal
/// string alignment" distance (Boytsov 2011, sec. 2.2.2). O(|a| |b|).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      bool const same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// The nearest of `known` by at most `most` differences, and by fewer than it has letters.
std::string near_by(std::string_view name, std::vector<std::string> const& known,
                    std::size_t most) {
  if (name.empty() || name.size() > longest_shown) return "";
  std::size_t best = most + 1;
  std::string found;
  for (std::string const& candidate : known) {
    std::size_t const d = distance(name, candidate);
    if (d < best && d < candidate.size()) {
      best = d;
      found = candidate;
    }
  }
  return found;
}

std::string_view before_ending(std::string_view name) { return name.substr(0, name.find('.', 1)); }

}  // namespace

void Diagnostics::add(Position at, std::string text) {
  problems_.emplace_back(std::move(at), std::move(text));
}

std::string Diagnostics::text() const {
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
    auto const key = [](Position const& p) { return std::tuple(p.line == 0, p.line, p.column); };
    return key(a.first) < key(b.first);
  });
  std::string lines;
  for (std::size_t i = 0; i < sorted.size() && i < most_shown; ++i)
    lines += (i ? "\n" : "") + sorted[i].first.text() + ": " + sorted[i].second;
  if (sorted.size() > most_shown) lines += cat("\nand ", sorted.size() - most_shown, " more");
  return lines;
}

void Diagnostics::throw_if_any() const {
  if (!empty()) throw ConfigError(text());
}

std::string shown(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::size_t end = std::min(text.size(), longest_shown);
  // A cut falls between UTF-8 characters, whose later bytes are 10xxxxxx.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  std::string out;
  for (char const c : text.substr(0, end)) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    } else {
      out += c;
    }
  }
  return end < text.size() ? out + "..." : out;
}

std::string detail::edit_nearest(std::string_view name, std::vector<std::string> const& known) {
  return near_by(name, known, std::max<std::size_t>(1, name.size() / 3));
}

std::string nearest_file(std::string_view name, std::vector<std::string> const& known) {
  std::string_view const stem = before_ending(name);
  std::vector<std::string> alike;  // some of their letters before the ending are the same
  for (std::string const& candidate : known)
    if (distance(stem, before_ending(candidate)) < std::max(stem.size(), std::size_t{1}))
      alike.push_back(candidate);
  return near_by(name, alike, std::max<std::size_t>(1, stem.size() / 3));
}

std::string nearest(std::string_view name, std::vector<std::string> const& known) {
  if (name.empty() || name.size() > longest_shown) return "";
  // A word of another package may be nearer to one of ours that means something else; a misspelt
  // word of another package is nearer to nothing.
  if (std::string const same = detail::exact_synonym(name, known); !same.empty()) return same;
  std::string const near = detail::edit_nearest(name, known);
  return near.empty() ? detail::synonym(name, known) : near;
}

std::string joined(std::vector<std::string> const& words) {
  std::string list;
  for (std::string const& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string suggestion(std::string_view name, std::vector<std::string> const& known) {
  std::string const near = nearest(name, known);
  if (!near.empty()) return cat("; did you mean '", near, "'?");
  return known.empty() ? "" : "; valid: " + joined(known);
}

}  // namespace tcsolve
