// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run_input.hpp>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/matrix_file.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Sets = std::vector<std::string>;

bool ends_in(std::string const& name, std::initializer_list<char const*> endings) {
  for (char const* const ending : endings)
    if (name.ends_with(ending)) return true;
  return false;
}

/// Whether the sets name the entry of the block `key`.
bool names_type(Sets const& sets, std::string const& key) {
  ConfigNode root;
  Diagnostics ignored;  // reported when the config is read
  apply_sets(root, sets, ignored);
  ConfigNode const* const block = root.find(key);
  return block && block->find("type");
}

/// The files of a command line as a config has them.
ConfigNode named_files(Arguments const& arguments) {
  Position const at{std::make_shared<std::string const>("the command line"), 0, 0};
  auto const map = [&] {
    ConfigNode node;
    node.kind = ConfigNode::Kind::map;
    node.at = at;
    return node;
  };
  ConfigNode root = map(), problem = map();
  auto const add = [&](char const* key, std::string const& text) {
    ConfigNode value = ConfigNode::of_text(text);
    value.at = at;
    problem.entries.push_back({key, at, std::move(value)});
  };
  add("matrix", arguments.subject);
  if (!arguments.rhs.empty()) add("rhs", arguments.rhs);
  root.entries.push_back({"problem", at, std::move(problem)});
  return root;
}

ParsedConfig read_standard_input(Sets const& sets, Catalog const& catalog) {
  std::ifstream in(readable_file("-"), std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  return read_config(parse_yaml(text, "standard input"), {}, sets, catalog);
}

}  // namespace

ParsedConfig matrix_run(Arguments const& arguments, Catalog const& catalog) {
  Sets sets = arguments.sets;
  if (!names_type(sets, "solver")) {
    sets.push_back("solver.type=auto");
    if (!names_type(sets, "preconditioner")) sets.push_back("preconditioner.type=auto");
  }
  return read_config(named_files(arguments), {}, sets, catalog);
}

std::string quoted_value(std::string const& text) {
  return to_yaml_inline(ConfigNode::of_text(text));
}

bool is_matrix(fs::path const& path) {
  std::string const name = path.string();
  if (ends_in(name, {".yaml", ".yml", ".json"})) return false;
  try {
    if (file_type(path) != FileType::text) return true;
  } catch (MatrixError const&) {
    // Missing, or no regular file: what its name says decides how that is reported.
  }
  return ends_in(name, {".mtx", ".mtx.gz", ".mtx.xz", ".npz", ".petsc", ".tar.gz", ".tgz", ".tar"});
}

ParsedConfig read_run(Arguments const& arguments, Catalog const& catalog) {
  if (is_matrix(arguments.subject)) return matrix_run(arguments, catalog);
  if (!arguments.rhs.empty())
    throw ConfigError(cat(arguments.rhs, ": a right-hand side follows a matrix, and ",
                          file_name(arguments.subject), " is none; set problem.rhs"));
  if (is_standard_input(arguments.subject)) return read_standard_input(arguments.sets, catalog);
  return read_config(arguments.subject, arguments.sets, catalog);
}

}  // namespace tcsolve
