// SPDX-License-Identifier: Apache-2.0
/// Assembly on the device (sparse/assembly.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/assembly_build.hpp>

namespace tcsolve::cuda {

sparse::AssembledPattern assemble_pattern(Device& device, Arena& arena, CooView const& entries) {
  Converter on(device, arena);
  return sparse::assemble_pattern(on, entries);
}

void assemble_values(Device& device, Arena& arena, sparse::AssembledPattern const& made,
                     double const* from, double* to) {
  Converter on(device, arena);
  sparse::assemble_values(on, made, from, to);
}

}  // namespace tcsolve::cuda
