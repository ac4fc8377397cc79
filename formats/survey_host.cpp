// SPDX-License-Identifier: Apache-2.0
/// Counts over a pattern on the host (formats/survey_counts.hpp).
#include <tcsolve/formats/survey_build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

RowCounts count_rows(Host&, Arena& arena, PatternView const& a) {
  Converter on(arena);
  return surveying::count_rows(on, a);
}
TileCounts count_tiles(Host&, Arena& arena, PatternView const& a) {
  Converter on(arena);
  return surveying::count_tiles(on, a);
}
template <class S>
bool mirrored(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return surveying::mirrored(on, a);
}

#define TCSOLVE_INSTANTIATE(S) template bool mirrored<S>(Host&, Arena&, CsrView<S> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::host
