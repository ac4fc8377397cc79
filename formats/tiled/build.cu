// SPDX-License-Identifier: Apache-2.0
/// CSR to panels on the device (formats/tiled/build.hpp).
#include <tcsolve/formats/tiled/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
TiledArrays<S> build_tiled(Device& device, Arena& arena, CsrView<S> const& a,
                           TiledTuning const& tuning) {
  Converter on(device, arena);
  return tiled::build(on, a, tuning);
}

template <class S>
void refill_tiled(Device& device, Arena& arena, CsrView<S> const& a, TiledArrays<S>& m) {
  Converter on(device, arena);
  tiled::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template TiledArrays<S> build_tiled<S>(Device&, Arena&, CsrView<S> const&, TiledTuning const&); \
  template void refill_tiled<S>(Device&, Arena&, CsrView<S> const&, TiledArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
