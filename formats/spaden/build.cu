// SPDX-License-Identifier: Apache-2.0
/// CSR to bitBSR on the device (formats/spaden/build.hpp).
#include <tcsolve/formats/spaden/refill.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
SpadenArrays<S> build_spaden(Device& device, Arena& arena, CsrView<S> const& a,
                             SpadenTuning const& tuning) {
  Converter on(device, arena);
  return spaden::build(on, a, tuning);
}

template <class S>
void refill_spaden(Device& device, Arena& arena, CsrView<S> const& a, SpadenArrays<S>& m) {
  Converter on(device, arena);
  spaden::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                 \
  template SpadenArrays<S> build_spaden<S>(Device&, Arena&, CsrView<S> const&, \
                                           SpadenTuning const&);               \
  template void refill_spaden<S>(Device&, Arena&, CsrView<S> const&, SpadenArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
