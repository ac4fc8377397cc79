// SPDX-License-Identifier: Apache-2.0
/// CSR to diagonals on the host (kernels/dia_build.hpp).
#include <tcsolve/kernels/dia_build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

template <class S>
Index count_diagonals(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return dia::count(on, a);
}
template <class S>
DiaArrays<S> build_dia(Host&, Arena& arena, CsrView<S> const& a, DiaTuning const& tuning) {
  Converter on(arena);
  return dia::build(on, a, tuning);
}
template <class S>
void refill_dia(Host&, Arena& arena, CsrView<S> const& a, DiaArrays<S>& m) {
  Converter on(arena);
  dia::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                            \
  template Index count_diagonals<S>(Host&, Arena&, CsrView<S> const&);                    \
  template DiaArrays<S> build_dia<S>(Host&, Arena&, CsrView<S> const&, DiaTuning const&); \
  template void refill_dia<S>(Host&, Arena&, CsrView<S> const&, DiaArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve::host
