// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32-sigma on the host (kernels/csell_build.hpp).
#include <tcsolve/kernels/csell_build.hpp>
#include <tcsolve/kernels/host/convert.hpp>

namespace tcsolve::host {

template <class S>
CsellArrays<S> build_csell(Host&, Arena& arena, CsrView<S> const& a, CsellTuning const& tuning) {
  Converter on(arena);
  return csell::build(on, a, tuning);
}
template <class S>
void refill_csell(Host&, Arena& arena, CsrView<S> const& a, CsellArrays<S>& m) {
  Converter on(arena);
  csell::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template CsellArrays<S> build_csell<S>(Host&, Arena&, CsrView<S> const&, CsellTuning const&); \
  template void refill_csell<S>(Host&, Arena&, CsrView<S> const&, CsellArrays<S>&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)

}  // namespace tcsolve::host
