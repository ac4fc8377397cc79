// SPDX-License-Identifier: Apache-2.0
/// CSR to diagonals on the device (formats/dia/build.hpp).
#include <tcsolve/formats/dia/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
Index count_diagonals(Device& device, Arena& arena, CsrView<S> const& a) {
  Converter on(device, arena);
  return dia::count(on, a);
}
template <class S>
DiaArrays<S> build_dia(Device& device, Arena& arena, CsrView<S> const& a, DiaTuning const& tuning) {
  Converter on(device, arena);
  return dia::build(on, a, tuning);
}
template <class S>
void refill_dia(Device& device, Arena& arena, CsrView<S> const& a, DiaArrays<S>& m) {
  Converter on(device, arena);
  dia::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                              \
  template Index count_diagonals<S>(Device&, Arena&, CsrView<S> const&);                    \
  template DiaArrays<S> build_dia<S>(Device&, Arena&, CsrView<S> const&, DiaTuning const&); \
  template void refill_dia<S>(Device&, Arena&, CsrView<S> const&, DiaArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
