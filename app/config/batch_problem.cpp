// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/batch_problem.hpp>

#include <tcsolve/app/config/generator.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tcsolve {
namespace {

/// The integer `text` and k more.
std::string raised(std::string const& text, int k) {
  if (text.starts_with('-')) return cat(std::stoll(text) + k);
  return cat(std::stoull(text) + static_cast<unsigned long long>(k));
}

/// The generator of system k. Throws ConfigError where the key that varies leaves its range.
std::unique_ptr<Generator> generator_of(BatchConfig const& batch, int k) {
  if (k == 0 || batch.vary.empty()) return make<GeneratorRegistry>(batch.generator);
  RegistryBase const& registry = *batch.generator.registry();
  ConfigNode node = registry.effective(batch.generator);
  ConfigNode& varied = *node.find(batch.vary);
  varied = ConfigNode::of_plain(raised(varied.scalar, k));
  varied.at = batch.generator.node().at;
  Diagnostics problems;
  Block const block = registry.read(node, problems, {});
  problems.throw_if_any();
  return make<GeneratorRegistry>(block);
}

/// f(k) of each system.
template <class F>
void for_each_system(ParsedConfig const& config, F const& f) {
  auto const files = static_cast<int>(config.files.batch.size());
  int const count = config.run.problem.batch.generator ? config.run.problem.batch.count : files;
  for (int k = 0; k < count; ++k) f(k);
}

ReadOptions read_options(ParsedConfig const& config, CancelFlag cancel = {}) {
  return {.petsc = config.run.problem.petsc.scalar, .cancel = cancel};
}

}  // namespace

ProblemSize batch_size(ParsedConfig const& config) {
  BatchConfig const& batch = config.run.problem.batch;
  std::int64_t rows = 0, entries = 0, count = 0, largest = 0;
  for_each_system(config, [&](int k) {
    ++count;
    if (batch.generator) {
      MatrixSize const made = generator_of(batch, k)->size();
      rows += made.rows;
      entries += made.entries;
      largest = std::max(largest, made.build_bytes);
      return;
    }
    MatrixFileSize const file = matrix_file_size(config.files.batch[k], read_options(config));
    rows += file.rows;
    entries += file.entries;
    largest = std::max(largest, file.reading_bytes);
  });
  if (rows > std::numeric_limits<Index>::max())
    throw SizeError(cat("the batch has ", rows, " rows; at most 2^31 - 1 are taken"));
  ProblemSize size;
  size.source = batch.generator ? cat(count, " systems of generator ", batch.generator.type())
                                : cat(count, " systems from files");
  size.rows = size.cols = static_cast<Index>(rows);
  size.entries = entries;
  size.csr_bytes = 8 * (rows + 1) + 12 * entries;
  size.peak_bytes = 2 * size.csr_bytes + largest;  // the systems, then end to end
  return size;
}

CsrBatch load_batch(ParsedConfig const& config, CancelFlag cancel) {
  BatchConfig const& batch = config.run.problem.batch;
  std::vector<Csr<double>> systems;
  for_each_system(config, [&](int k) {
    cancel.check();
    systems.push_back(batch.generator
                          ? generator_of(batch, k)->make({0, cancel})
                          : read_matrix(config.files.batch[k], read_options(config, cancel)));
  });
  return batch_of(systems);
}

}  // namespace tcsolve
