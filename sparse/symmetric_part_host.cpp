// SPDX-License-Identifier: Apache-2.0
/// Symmetric parts on the host (sparse/symmetric_part.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/symmetric_part_build.hpp>

namespace tcsolve::host {

sparse::OwnedPattern union_pattern(Host&, Arena& arena, PatternView const& a,
                                   PatternView const& t) {
  Converter on(arena);
  return sparse::union_pattern(on, a, t);
}
void average_values(Host&, Arena& arena, CsrView<double> const& a, CsrView<double> const& t,
                    OffsetsView const& offsets, double* h) {
  Converter on(arena);
  sparse::average_values(on, a, t, offsets, h);
}

}  // namespace tcsolve::host
