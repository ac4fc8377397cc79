// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/options.hpp>

#include <filesystem>

#include <tcsolve/configs/schema/yaml.hpp>

namespace tcsolve {
namespace {

/// What a block that C++ has made calls its entry, whatever the registry calls that key.
ConfigNode named_as(RegistryBase const& registry, Block const& block) {
  ConfigNode node = block.node();
  node.entries.front().key = registry.type_key();
  return node;
}

/// Says where what C++ has written stands.
void place(ConfigNode& node, std::string const& where) {
  node.at.source = std::make_shared<std::string const>(where);
  for (ConfigNode& item : node.items) place(item, where);
  for (ConfigNode::Entry& entry : node.entries) {
    entry.at.source = node.at.source;
    place(entry.value, cat(where, ".", entry.key));
  }
}

bool is_read(Block const& block) { return block.registry() != nullptr; }

}  // namespace

SolverOptions read_options(SolverOptions options, SolverRegistries const& registries) {
  if (is_read(options.solver) && is_read(options.preconditioner) &&
      is_read(options.matrix_operator))
    return options;
  ConfigNode tree = to_node(options);
  if (options.matrix_operator && !is_read(options.matrix_operator))
    *tree.find("operator") = named_as(registries.operators, options.matrix_operator);
  place(tree, "options");
  SolverOptions made = read_options(tree, registries);
  made.device = options.device;
  made.stream = options.stream;
  made.check_matrices = options.check_matrices;
  return made;
}

SolverOptions read_options(ConfigNode const& tree, SolverRegistries const& registries) {
  SolverOptions options;
  Diagnostics problems;
  detail::read_map(tree, options, problems, "the options of a solver", registries.catalog,
                   {"problem", "output"});
  problems.throw_if_any();
  return options;
}

void resolve_paths(ConfigNode& tree, std::string const& folder) {
  ConfigNode* const matrix_operator = tree.find("operator");
  ConfigNode* const table = matrix_operator ? matrix_operator->find("calibration") : nullptr;
  if (table == nullptr || table->scalar.empty()) return;
  std::filesystem::path const path = table->scalar;
  bool const from_file = table->at.line > 0;
  if (from_file && path.is_relative())
    table->scalar = (std::filesystem::path(folder) / path).string();
}

SolverOptions SolverOptions::from_yaml(std::string const& text, std::string const& name) {
  return read_options(parse_yaml(text, name));
}

SolverOptions SolverOptions::from_file(std::string const& path) {
  ConfigNode tree = load_yaml(path);
  resolve_paths(tree, std::filesystem::path(path).parent_path().string());
  return read_options(tree);
}

}  // namespace tcsolve
