// SPDX-License-Identifier: Apache-2.0
/// Assembly on the host (sparse/assembly.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/assembly_build.hpp>

namespace tcsolve::host {

sparse::AssembledPattern assemble_pattern(Host&, Arena& arena, CooView const& entries) {
  Converter on(arena);
  return sparse::assemble_pattern(on, entries);
}

void assemble_values(Host&, Arena& arena, sparse::AssembledPattern const& made, double const* from,
                     double* to) {
  Converter on(arena);
  sparse::assemble_values(on, made, from, to);
}

}  // namespace tcsolve::host
