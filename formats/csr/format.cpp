// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {
namespace {

/// Exact: entries and offsets.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  return {.stored = entries * (s + 4) + 4 * (rows + 1),
          .slots = entries,
          .scratch = 0,
          // A warp of the plain kernel.
          .walked = double(f.longest)};
}

}  // namespace

Format csr_format() {
  return {
      .name = "csr",
      .doc = "compressed sparse rows; cuSPARSE on a device, Kokkos on the host",
      .can = {.transpose = true, .persistent = true},
      .converted = false,
      .layout = layout,
      .estimate = [](Real values, double rows,
                     double entries) { return entries * (size_of(values) + 4) + 4 * (rows + 1); },
      .factory = factory_of<RoundingFactory<CsrOperator>>(),
      .makers = makers_of<CsrOperator>()};
}

}  // namespace tcsolve
