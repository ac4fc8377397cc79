// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32 on the device (formats/sell/build.hpp).
#include <tcsolve/formats/sell/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
SellArrays<S> build_sell(Device& device, Arena& arena, CsrView<S> const& a) {
  Converter on(device, arena);
  return sell::build(on, a);
}
template <class S>
void refill_sell(Device& device, Arena& arena, CsrView<S> const& a, SellArrays<S>& m) {
  Converter on(device, arena);
  sell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                              \
  template SellArrays<S> build_sell<S>(Device&, Arena&, CsrView<S> const&); \
  template void refill_sell<S>(Device&, Arena&, CsrView<S> const&, SellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
