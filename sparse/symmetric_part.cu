// SPDX-License-Identifier: Apache-2.0
/// Symmetric parts on the device (sparse/symmetric_part.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/symmetric_part_build.hpp>

namespace tcsolve::cuda {

sparse::OwnedPattern union_pattern(Device& device, Arena& arena, PatternView const& a,
                                   PatternView const& t) {
  Converter on(device, arena);
  return sparse::union_pattern(on, a, t);
}
void average_values(Device& device, Arena& arena, CsrView<double> const& a,
                    CsrView<double> const& t, OffsetsView const& offsets, double* h) {
  Converter on(device, arena);
  sparse::average_values(on, a, t, offsets, h);
}

}  // namespace tcsolve::cuda
