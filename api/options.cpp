// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/options.hpp>

#include <filesystem>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

namespace tcsolve {
namespace {

/// The key that names the entry in a block written in C++, whatever the registry's type key is.
ConfigNode named_as(RegistryBase const& registry, Block const& block) {
  ConfigNode node = block.node();
  node.entries.front().key = registry.type_key();
  return node;
}

Position placed(std::string const& where) {
  return {std::make_shared<std::string const>(where), 0, 0};
}

/// Says where what C++ has written stands.
void place(ConfigNode& node, std::string const& where) {
  node.at = placed(where);
  for (ConfigNode& item : node.items) place(item, where);
  for (ConfigNode::Entry& entry : node.entries) {
    entry.at = node.at;
    place(entry.value, cat(where, ".", entry.key));
  }
}

/// Files become vectors: what is wrong with one is an error of the input, before a set-up begins.
void read_files(NullspaceConfig& nullspace) {
  for (std::string const& file : nullspace.files) {
    Columns const z = read_columns_file(file, "z");
    auto const n = static_cast<std::ptrdiff_t>(z.rows);
    for (auto column = z.values.begin(); column != z.values.end(); column += n)
      nullspace.vectors.emplace_back(column, column + n);
    if (n == 0) throw MatrixError(cat(file, ": a vector of a nullspace without entries"));
  }
  nullspace.files.clear();
}

}  // namespace

SolverOptions read_options(SolverOptions options, SolverRegistries const& registries) {
  Diagnostics problems;
  auto const read = [&](Block& block, RegistryBase const& registry) {
    if (block.registry() != nullptr) return;
    if (!block) return problems.add(placed("options"), cat("'", registry.kind(), "' is missing"));
    ConfigNode node = named_as(registry, block);
    place(node, cat("options.", registry.kind()));
    block = registry.read(node, problems, registries.catalog);
  };
  read(options.matrix_operator, registries.operators);
  read(options.preconditioner, registries.preconditioners);
  read(options.solver, registries.solvers);
  CacheConfig const none;  // whose keys are in range
  if (options.cache.directory != none.directory || options.cache.limit != none.limit) {
    ConfigNode cache = to_node(options.cache);
    place(cache, "options.cache");
    read_params(cache, options.cache, problems, "'cache'");
  }
  if (options.threads < 0 || options.threads > 1024)
    problems.add(placed("options.threads"),
                 cat("'threads' = ", options.threads, " is outside [0, 1024]"));
  problems.throw_if_any();
  read_files(options.nullspace);
  return options;
}

void choose_where_unnamed(ConfigNode& tree) {
  if (tree.kind != ConfigNode::Kind::map) return;
  auto const unnamed = [&](char const* key) {
    ConfigNode const* const block = tree.find(key);
    return !block || (block->kind == ConfigNode::Kind::map && !block->find("type"));
  };
  auto const name_auto = [&](char const* key) {
    if (!tree.find(key)) {
      ConfigNode block;
      block.kind = ConfigNode::Kind::map;
      block.at = tree.at;
      tree.entries.push_back({key, tree.at, std::move(block)});
    }
    ConfigNode type = ConfigNode::of_text("auto");
    type.at = tree.find(key)->at;
    tree.find(key)->entries.push_back({"type", type.at, type});
  };
  if (!unnamed("solver")) return;
  name_auto("solver");
  if (unnamed("preconditioner")) name_auto("preconditioner");
}

SolverOptions read_options(ConfigNode tree, SolverRegistries const& registries) {
  SolverOptions options;
  Diagnostics problems;
  choose_where_unnamed(tree);
  detail::read_map(tree, options, problems, "the options of a solver", registries.catalog,
                   {"problem", "output", "time_limit"});
  problems.throw_if_any();
  return options;
}

void resolve_paths(ConfigNode& tree, std::string const& folder) {
  auto const resolve = [&](ConfigNode& file) {
    std::filesystem::path const path = file.scalar;
    bool const from_file = file.at.line > 0;
    if (from_file && !file.scalar.empty() && path.is_relative())
      file.scalar = (std::filesystem::path(folder) / path).string();
  };
  if (ConfigNode* const block = tree.find("operator"))
    if (ConfigNode* const table = block->find("calibration")) resolve(*table);
  if (ConfigNode* const block = tree.find("nullspace"))
    if (ConfigNode* const files = block->find("files"))
      for (ConfigNode& file : files->items) resolve(file);
}

std::vector<std::vector<double>> nullspace_vectors(NullspaceConfig const& config, Index n) {
  auto const length = static_cast<std::size_t>(n);
  std::vector<std::vector<double>> vectors;
  if (config.constant) vectors.emplace_back(length, 1.0);
  vectors.insert(vectors.end(), config.vectors.begin(), config.vectors.end());
  for (std::vector<double> const& z : vectors)
    if (z.size() != length)
      throw ShapeError(
          cat("nullspace: a vector has ", z.size(), " entries, the matrix ", n, " columns"));
  return vectors;
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
