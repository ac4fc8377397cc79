// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/generate.hpp>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

namespace tcsolve {

std::string generate_file(Registries const& registries, std::string const& generator,
                          std::vector<std::string> const& sets, std::filesystem::path const& file) {
  if (file.extension() != ".mtx")
    throw ConfigError(
        cat("--file ", file.string(), ": a matrix is written as Matrix Market, NAME.mtx"));
  ConfigNode node = ConfigNode::map_of("type", generator);
  Position const at{std::make_shared<std::string const>("generate " + shown(generator)), 0, 0};
  node.at = node.entries.front().at = node.entries.front().value.at = at;
  Diagnostics problems;
  apply_sets(node, sets, problems);
  auto const made = registries.generators.make(node, problems, registries.catalog);
  problems.throw_if_any();
  { AtomicFile const probe(file); }  // what cannot be written is not made first
  Csr<double> const a = made->make();
  write_matrix_market(file, a);
  return cat(file.string(), ": ", a.rows, " x ", a.cols, ", ", a.entries(), " entries\n");
}

}  // namespace tcsolve
