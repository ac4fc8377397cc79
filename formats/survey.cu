// SPDX-License-Identifier: Apache-2.0
/// Counts over a pattern on the device (formats/survey_counts.hpp).
#include <tcsolve/formats/survey_build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

RowCounts count_rows(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return surveying::count_rows(on, a);
}
TileCounts count_tiles(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return surveying::count_tiles(on, a);
}
template <class S>
bool mirrored(Device& device, Arena& arena, CsrView<S> const& a) {
  Converter on(device, arena);
  return surveying::mirrored(on, a);
}

#define TCSOLVE_INSTANTIATE(S) template bool mirrored<S>(Device&, Arena&, CsrView<S> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
