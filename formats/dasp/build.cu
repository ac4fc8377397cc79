// SPDX-License-Identifier: Apache-2.0
/// CSR to DASP on the device (formats/dasp/build.hpp).
#include <tcsolve/formats/dasp/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
DaspArrays<S> build_dasp(Device& device, Arena& arena, CsrView<S> const& a,
                         DaspTuning const& tuning) {
  Converter on(device, arena);
  return dasp::build(on, a, tuning);
}

template <class S>
void refill_dasp(Device& device, Arena& arena, CsrView<S> const& a, DaspArrays<S>& m) {
  Converter on(device, arena);
  dasp::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                                 \
  template DaspArrays<S> build_dasp<S>(Device&, Arena&, CsrView<S> const&, DaspTuning const&); \
  template void refill_dasp<S>(Device&, Arena&, CsrView<S> const&, DaspArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
