// SPDX-License-Identifier: Apache-2.0
/// CSR to BitTCF on the device (formats/bittcf/build.hpp).
#include <tcsolve/formats/bittcf/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
BittcfArrays<S> build_bittcf(Device& device, Arena& arena, CsrView<S> const& a,
                             BittcfTuning const& tuning) {
  Converter on(device, arena);
  return bittcf::build(on, a, tuning);
}

template <class S>
void refill_bittcf(Device& device, Arena& arena, CsrView<S> const& a, BittcfArrays<S>& m) {
  Converter on(device, arena);
  bittcf::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                 \
  template BittcfArrays<S> build_bittcf<S>(Device&, Arena&, CsrView<S> const&, \
                                           BittcfTuning const&);               \
  template void refill_bittcf<S>(Device&, Arena&, CsrView<S> const&, BittcfArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
