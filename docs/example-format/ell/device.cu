// SPDX-License-Identifier: Apache-2.0
/// Conversion to ELL and its operations on the device.
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>

#include "ell/build.hpp"
#include "ell/ops.hpp"

namespace tcsolve::cuda {

template <class S>
EllArrays<S> build_ell(Device& device, Arena& arena, CsrView<S> const& a) {
  Converter on(device, arena);
  return ell::build(on, a);
}
template <class S>
void refill_ell(Device& device, Arena& arena, CsrView<S> const& a, EllArrays<S>& m) {
  Converter on(device, arena);
  ell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                            \
  template EllArrays<S> build_ell<S>(Device&, Arena&, CsrView<S> const&); \
  template void refill_ell<S>(Device&, Arena&, CsrView<S> const&, EllArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<EllOps>;

}  // namespace tcsolve::cuda
