// SPDX-License-Identifier: Apache-2.0
/// From YAML text to a ConfigNode and back. The only place that knows a YAML library.
#pragma once

#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/node.hpp>

#include <span>
#include <string>

namespace tcsolve {

/// The tree of one YAML document; `name` stands for the file in messages. An empty document is a
/// null node at 1:1. Throws ConfigError with the position for text that is not UTF-8 or not YAML,
/// or that is longer than 1 MiB, nested deeper than 64 levels, or uses what a config has no need
/// of: anchors, aliases, tags, several documents, keys that are not plain text.
ConfigNode parse_yaml(std::string const& text, std::string const& name);

/// parse_yaml() of a file, named by `path`. Throws ConfigError also when it can't be read.
ConfigNode load_yaml(std::string const& path);

/// Applies `--set` arguments `key.path=value` to the tree, the later one winning: the value is YAML
/// (`solver.restart=50`, `solver={type: cg}`; nothing after `=` is the empty text), blocks on the
/// way are made when missing, and whatever a set wrote has the position `--set key.path=value`.
/// Reports malformed arguments and paths that lead through a value.
void apply_sets(ConfigNode& root, std::span<std::string const> sets, Diagnostics& problems);

/// The tree as YAML text in block style; parse_yaml() of it gives the same tree, positions aside.
std::string to_yaml(ConfigNode const& node);

/// A scalar or list on one line, as in YAML flow style.
std::string to_yaml_inline(ConfigNode const& node);

/// The tree as JSON; a plain scalar becomes a number or true/false where it is one. Infinity, which
/// JSON lacks, becomes the text ".inf".
std::string to_json(ConfigNode const& node, int indent = 2);

}  // namespace tcsolve
