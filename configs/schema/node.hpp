// SPDX-License-Identifier: Apache-2.0
/// A configuration as a tree of plain values, each with the place it was written at.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

/// Where something was written: `my.yaml:4:25`, or an argument such as `--set solver.restart=5`.
struct Position {
  std::shared_ptr<std::string const> source;
  int line = 0;    ///< from 1; 0 means that the source as a whole is the place
  int column = 0;  ///< from 1, in bytes; for line 0 the rank among such sources

  /// `source:line:column`, or `source` alone for line 0.
  std::string text() const;
};

/// A map, a list, one value, or nothing.
struct ConfigNode {
  enum class Kind { null, scalar, sequence, map };
  struct Entry;

  Kind kind = Kind::null;
  Position at;
  std::string scalar;
  bool quoted = false;            ///< the scalar is text whatever it looks like
  std::vector<ConfigNode> items;  ///< of a sequence
  std::vector<Entry> entries;     ///< of a map, in the order written, duplicate keys included

  /// The value of the first entry with this key, null when there is none.
  ConfigNode const* find(std::string_view key) const;
  ConfigNode* find(std::string_view key);

  /// A map with the one entry `key: text`, for defaults that no file holds.
  static ConfigNode map_of(std::string const& key, std::string const& text);
  static ConfigNode of_text(std::string text);    ///< a quoted scalar
  static ConfigNode of_plain(std::string plain);  ///< a number, true, false or a name
};

/// `key: value` in a map.
struct ConfigNode::Entry {
  std::string key;
  Position at;
  ConfigNode value;
};

}  // namespace tcsolve
