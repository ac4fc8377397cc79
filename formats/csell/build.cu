// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32-sigma on the device (formats/csell/build.hpp).
#include <tcsolve/formats/csell/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
CsellArrays<S> build_csell(Device& device, Arena& arena, CsrView<S> const& a,
                           CsellTuning const& tuning) {
  Converter on(device, arena);
  return csell::build(on, a, tuning);
}
template <class S>
void refill_csell(Device& device, Arena& arena, CsrView<S> const& a, CsellArrays<S>& m) {
  Converter on(device, arena);
  csell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template CsellArrays<S> build_csell<S>(Device&, Arena&, CsrView<S> const&, CsellTuning const&); \
  template void refill_csell<S>(Device&, Arena&, CsrView<S> const&, CsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
