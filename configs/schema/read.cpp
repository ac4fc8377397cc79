// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/read.hpp>

#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/configs/schema/range.hpp>
#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/configs/schema/synonyms.hpp>
#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <stdexcept>

namespace tcsolve::detail {
namespace {

using Kind = ConfigNode::Kind;

/// The value as it stands in a message: 3.5, 'abc', "50" for a number in quotes.
std::string quoted(ConfigNode const& node) {
  double number = 0;
  bool const numeric = parse_number(node.scalar, number) != Parsed::malformed;
  if (numeric) return node.quoted ? "\"" + shown(node.scalar) + "\"" : shown(node.scalar);
  return "'" + shown(node.scalar) + "'";
}

std::string named(Site const& site) { return cat("'", shown(site.key), "' = ", quoted(site.node)); }

/// Reports a node that is not a scalar.
bool is_scalar(Site const& site, char const* expected) {
  char const* found = nullptr;
  switch (site.node.kind) {
    case Kind::scalar: return true;
    case Kind::null: found = "has no value"; break;
    case Kind::sequence: found = "is a list"; break;
    case Kind::map: found = "is a block"; break;
  }
  site.problems.add(site.node.at,
                    cat("'", shown(site.key), "' ", found, "; ", expected, " is expected"));
  return false;
}

bool report(Site const& site, std::string const& text) {
  site.problems.add(site.node.at, text);
  return false;
}

template <class T>
constexpr char const* noun = std::is_same_v<T, double> ? "a number" : "an integer";

template <class T>
std::string too_large() {
  if (std::is_same_v<T, double>) return " does not fit a double (1e-308 to 1e308)";
  return cat(" does not fit ", std::is_unsigned_v<T> ? "an unsigned " : "a ", 8 * sizeof(T),
             "-bit integer");
}

}  // namespace

namespace {

/// What to write for a key that a block does not have.
std::string advice(ConfigNode::Entry const& entry, std::string const& what,
                   std::vector<std::string> const& known) {
  std::string const key = entry.key;
  std::size_t const colon = key.find(':');
  if (colon != std::string::npos && entry.value.kind == Kind::null)
    return cat("; put a space after '", shown(key.substr(0, colon + 1)), "'");
  std::string const elsewhere = other_block(key, what);
  return elsewhere.empty() ? suggestion(key, known) : elsewhere;
}

}  // namespace

MapReader::MapReader(ConfigNode const& node, std::string what, Diagnostics& problems,
                     std::vector<std::string> known)
    : node_(node),
      what_(std::move(what)),
      problems_(problems),
      known_(std::move(known)),
      is_map_(node.kind == Kind::map) {
  if (is_map_) return;
  problems_.add(node.at, cat(what_, node.kind == Kind::null ? " is empty" : " is not a block",
                             "; keys with values are expected, or {} for the defaults"));
}

ConfigNode const* MapReader::take(std::string const& key, bool needed) {
  known_.push_back(key);
  ConfigNode const* const value = node_.find(key);
  if (!value && needed) missing_.push_back(key);
  return value;
}

void MapReader::finish() {
  for (std::string const& key : missing_) {
    // A misspelt key is one mistake, and so is one that belongs into the block that is missing: the
    // message about it names that key.
    bool const misspelt = std::ranges::any_of(node_.entries, [&](ConfigNode::Entry const& entry) {
      if (std::ranges::find(known_, entry.key) != known_.end()) return false;
      bool const within =
          !other_block(entry.key, what_).empty() && key_path(entry.key).starts_with(key + ".");
      return within || nearest(entry.key, known_) == key;
    });
    if (!misspelt) problems_.add(node_.at, cat("'", key, "' is missing in ", what_));
  }
  std::map<std::string_view, ConfigNode::Entry const*> first;
  for (ConfigNode::Entry const& entry : node_.entries) {
    auto const [earlier, is_new] = first.emplace(entry.key, &entry);
    if (!is_new) {
      problems_.add(entry.at, cat("key '", shown(entry.key), "' in ", what_, " is given twice, at ",
                                  earlier->second->at.text(), " too"));
    } else if (std::find(known_.begin(), known_.end(), entry.key) == known_.end()) {
      problems_.add(entry.at, cat("unknown key '", shown(entry.key), "' in ", what_,
                                  advice(entry, what_, known_)));
    }
  }
}

bool read_bool(Site const& site, bool& value) {
  if (!is_scalar(site, "true or false")) return false;
  std::string const& text = site.node.scalar;
  bool const is_bool = text == "true" || text == "false";
  if (is_bool && site.node.quoted)
    return report(site, cat(named(site), " is text; write ", text, " without quotes"));
  if (!is_bool) {
    std::string const near = nearest(text, {"true", "false"});
    return report(site, cat(named(site), " is not true or false",
                            near.empty() ? "" : cat("; did you mean ", near, "?")));
  }
  value = site.node.scalar == "true";
  return true;
}

bool read_text(Site const& site, bool may_be_empty, std::string& value) {
  if (!is_scalar(site, "text")) return false;
  if (!may_be_empty && site.node.scalar.empty())
    return report(site, cat("'", site.key, "' is empty"));
  value = site.node.scalar;
  return true;
}

bool read_name(Site const& site, std::vector<std::string> const& names, std::size_t& index) {
  if (!is_scalar(site, ("one of " + joined(names)).c_str())) return false;
  auto const found = std::find(names.begin(), names.end(), site.node.scalar);
  if (found == names.end()) {
    std::string const near = nearest(site.node.scalar, names);
    return report(site, cat(named(site), " is not one of ", joined(names),
                            near.empty() ? "" : cat("; did you mean '", near, "'?")));
  }
  index = static_cast<std::size_t>(found - names.begin());
  return true;
}

bool read_list(Site const& site) {
  if (site.node.kind == Kind::sequence) return true;
  bool const scalar = site.node.kind == Kind::scalar;
  return report(site, cat("'", shown(site.key), "' is not a list: write [",
                          scalar ? shown(site.node.scalar) : "a, b", "]"));
}

bool read_block(Site const& site, std::string const& kind, Block& value) {
  value = site.catalog.at(kind).read(site.node, site.problems, site.catalog);
  return static_cast<bool>(value);
}

namespace {

/// parse_number() of what a config may write for it: an integer as 1e3, infinity as inf.
template <class T>
Parsed parse_scalar(std::string const& text, T& value) {
  if (Parsed const parsed = parse_number(text, value); parsed != Parsed::malformed) return parsed;
  if constexpr (std::is_same_v<T, double>) {
    std::string word;
    for (char const c : text)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (word == "inf" || word == "+inf") return parse_number(".inf", value);
    if (word == "-inf" || word == ".inf" || word == "-.inf" || word == "+.inf")
      return parse_number(word[0] == '-' ? "-.inf" : ".inf", value);
    return Parsed::malformed;
  } else {
    constexpr double exact = 0x1p53;  // every integer up to here is a double
    double number = 0;
    if (text.find_first_of("eE") == std::string::npos) return Parsed::malformed;
    Parsed const parsed = parse_number(text, number);
    if (parsed != Parsed::ok) return parsed;
    if (std::trunc(number) != number) return Parsed::malformed;
    if (std::abs(number) > exact) return Parsed::too_large;
    return parse_number(number_text(static_cast<std::int64_t>(number)), value);
  }
}

/// Whether a word behind a number is a unit of time or of memory.
bool is_unit(std::string_view word) {
  std::string lower;
  for (char const c : word) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (char const* unit : {"s", "sec", "seconds", "ms", "min", "minutes", "h", "hours", "k", "m",
                           "g", "kb", "mb", "gb", "kib", "mib", "gib"})
    if (lower == unit) return true;
  return false;
}

/// "; write seconds, without a unit" for a number with letters behind it.
std::string unit_advice(Site const& site) {
  std::string const& text = site.node.scalar;
  std::size_t const end = text.find_first_not_of("+-.0123456789");
  double number = 0;
  if (end == 0 || end == std::string::npos ||
      parse_number(std::string_view(text).substr(0, end), number) != Parsed::ok)
    return "";
  std::size_t const letter = text.find_first_not_of(' ', end);
  if (letter == std::string::npos || !is_unit(std::string_view(text).substr(letter))) return "";
  std::string const unit = unit_of(site.key);
  return unit.empty() ? "; write it without a unit" : cat("; write ", unit, ", without a unit");
}

}  // namespace

template <class T>
bool read_number(Site const& site, Interval<T> const& range, T& value) {
  if (!is_scalar(site, noun<T>)) return false;
  T parsed{};
  switch (parse_scalar(site.node.scalar, parsed)) {
    case Parsed::malformed:
      return report(site, cat(named(site), " is not ", noun<T>, unit_advice(site)));
    case Parsed::too_large: return report(site, named(site) + too_large<T>());
    case Parsed::ok: break;
  }
  // JSON has no infinity: there it is text, as in the `config` of a result.json.
  bool infinite = false;
  if constexpr (std::is_same_v<T, double>) infinite = std::isinf(parsed);
  if (site.node.quoted && !infinite)
    return report(site, cat(named(site), " is text; write ", noun<T>, " without quotes"));
  if (!range.contains(parsed))
    return report(site, cat(named(site), " is outside ", range_text(range)));
  if constexpr (std::is_same_v<T, double>) {
    if (std::isinf(parsed) && !range.infinite) return report(site, named(site) + " is not finite");
  }
  value = parsed;
  return true;
}

template bool read_number(Site const&, Interval<int> const&, int&);
template bool read_number(Site const&, Interval<std::int64_t> const&, std::int64_t&);
template bool read_number(Site const&, Interval<std::uint64_t> const&, std::uint64_t&);
template bool read_number(Site const&, Interval<double> const&, double&);

void check_key(std::vector<std::string>& seen, std::string const& key, bool default_allowed) {
  if (std::find(seen.begin(), seen.end(), key) != seen.end())
    throw std::logic_error(cat("a schema names the key '", key, "' twice"));
  if (!default_allowed)
    throw std::logic_error(cat("the default of '", key, "' is outside its own range"));
  seen.push_back(key);
}

}  // namespace tcsolve::detail
