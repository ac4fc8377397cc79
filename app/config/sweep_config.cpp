// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/sweep_config.hpp>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace tcsolve {
namespace {

using Kind = ConfigNode::Kind;

/// The keys of a run may be any but those that say where it is written.
bool is_swept(SweepValue::Key const& key, Diagnostics& problems) {
  std::string const block = key.path.substr(0, key.path.find('.'));
  if (block != "output" && block != "sweep") return true;
  problems.add(key.at, cat("'", shown(key.path), "' is one of the whole sweep, not of its runs"));
  return false;
}

bool is_map(ConfigNode const& node, std::string const& what, char const* of,
            Diagnostics& problems) {
  if (node.kind == Kind::map) return true;
  problems.add(node.at, cat(what, " is ", of));
  return false;
}

}  // namespace

std::string label_of(ConfigNode const& value) {
  if (value.kind == Kind::scalar) return value.scalar;
  if (value.kind != Kind::map) return to_yaml_inline(value);
  std::string type, rest;
  for (ConfigNode::Entry const& e : value.entries) {
    bool const names = (e.key == "type" || e.key == "format") && e.value.kind == Kind::scalar;
    if (names && type.empty())
      type = e.value.scalar;
    else
      rest += cat(rest.empty() ? "" : ", ", e.key, ": ", to_yaml_inline(e.value));
  }
  if (type.empty()) return "{" + rest + "}";
  return rest.empty() ? type : cat(type, " (", rest, ")");
}

void require_distinct(std::vector<SweepValue> const& values, Position const& at,
                      std::string const& what, Diagnostics& problems) {
  std::set<std::string> seen;
  for (SweepValue const& v : values)
    if (!seen.insert(v.label).second)
      problems.add(v.keys.empty() ? at : v.keys.front().at,
                   cat("'", shown(v.label), "' is given twice in ", what));
}

bool read_params(ConfigNode const& node, SweepKeys& keys, Diagnostics& problems,
                 std::string const& what, Catalog const&) {
  std::size_t const before = problems.size();
  if (!is_map(node, what, "a map from keys to lists of values, e.g. solver.type: [cg, minres]",
              problems))
    return false;
  for (ConfigNode::Entry const& e : node.entries) {
    SweepAxis axis{e.key, {}};
    if (!is_swept({e.key, e.at, {}}, problems)) continue;
    if (std::ranges::find(keys.axes, e.key, &SweepAxis::name) != keys.axes.end())
      problems.add(e.at, cat("key '", shown(e.key), "' is given twice in ", what));
    if (e.value.kind != Kind::sequence || e.value.items.empty()) {
      problems.add(e.at, cat("'", shown(e.key), "' in ", what, " takes a list of values, e.g. [",
                             label_of(e.value), "]"));
      continue;
    }
    for (ConfigNode const& item : e.value.items)
      axis.values.push_back({label_of(item), {{e.key, e.at, item}}});
    require_distinct(axis.values, e.at, cat("'", shown(e.key), "'"), problems);
    keys.axes.push_back(std::move(axis));
  }
  return problems.size() == before;
}

bool read_params(ConfigNode const& node, SweepVariants& variants, Diagnostics& problems,
                 std::string const& what, Catalog const&) {
  std::size_t const before = problems.size();
  if (!is_map(node, what,
              "a map from names to keys with values, e.g. FP32: {operator.values: fp32}", problems))
    return false;
  for (ConfigNode::Entry const& e : node.entries) {
    SweepValue variant{e.key, {}};
    if (!is_map(e.value, cat("'", shown(e.key), "' in ", what),
                "keys with values, or {} for those of every run", problems))
      continue;
    for (ConfigNode::Entry const& key : e.value.entries) {
      SweepValue::Key written{key.key, key.at, key.value};
      if (is_swept(written, problems)) variant.keys.push_back(std::move(written));
    }
    variants.values.push_back(std::move(variant));
  }
  require_distinct(variants.values, node.at, what, problems);
  return problems.size() == before;
}

bool read_params(ConfigNode const& node, SweepProblems& list, Diagnostics& problems,
                 std::string const& what, Catalog const&) {
  std::size_t const before = problems.size();
  if (node.kind != Kind::sequence || node.items.empty()) {
    problems.add(node.at, cat(what, " is a list of files, folders and blocks as 'problem' is one"));
    return false;
  }
  for (ConfigNode const& item : node.items) {
    if (item.kind != Kind::scalar && item.kind != Kind::map)
      problems.add(item.at, cat("an entry of ", what, " is a file, a folder or a block"));
    list.items.push_back(item);
  }
  return problems.size() == before;
}

}  // namespace tcsolve
