// SPDX-License-Identifier: Apache-2.0
/// Conversion to ELL and its operations on the host.
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include "ell/build.hpp"
#include "ell/ops.hpp"

namespace tcsolve::host {

template <class S>
EllArrays<S> build_ell(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return ell::build(on, a);
}
template <class S>
void refill_ell(Host&, Arena& arena, CsrView<S> const& a, EllArrays<S>& m) {
  Converter on(arena);
  ell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                          \
  template EllArrays<S> build_ell<S>(Host&, Arena&, CsrView<S> const&); \
  template void refill_ell<S>(Host&, Arena&, CsrView<S> const&, EllArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

template struct WalksExactly<EllExactOps>;
template struct Executes<EllOps>;

}  // namespace tcsolve::host
