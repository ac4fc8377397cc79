// SPDX-License-Identifier: Apache-2.0
/// CSR to slices of dense blocks on the device (formats/bsell/build.hpp).
#include <tcsolve/formats/bsell/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
BsellCounts count_blocks(Device& device, Arena& arena, CsrView<S> const& a) {
  Converter on(device, arena);
  return bsell::count(on, a);
}
template <class S>
BsellArrays<S> build_bsell(Device& device, Arena& arena, CsrView<S> const& a,
                           BsellTuning const& tuning) {
  Converter on(device, arena);
  return bsell::build(on, a, tuning);
}
template <class S>
void refill_bsell(Device& device, Arena& arena, CsrView<S> const& a, BsellArrays<S>& m) {
  Converter on(device, arena);
  bsell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template BsellCounts count_blocks<S>(Device&, Arena&, CsrView<S> const&);                       \
  template BsellArrays<S> build_bsell<S>(Device&, Arena&, CsrView<S> const&, BsellTuning const&); \
  template void refill_bsell<S>(Device&, Arena&, CsrView<S> const&, BsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
