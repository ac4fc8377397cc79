// SPDX-License-Identifier: Apache-2.0
/// Values in a narrower type on the host (matrix/narrow.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/matrix/narrow_build.hpp>

namespace tcsolve::host {

template <class S, class T>
Narrowed narrow_values(Host&, Arena& arena, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept,
                       S* to) {
  Converter on(arena);
  return narrowing::narrow_values<S>(on, a, beyond, kept, to);
}
template <class S>
double norm_without_scales(Host&, Arena& arena, CsrView<S> const& b, int shift,
                           std::int32_t const* rows, std::int32_t const* columns) {
  Converter on(arena);
  return narrowing::norm_without_scales(on, b, shift, rows, columns);
}

#define TCSOLVE_NARROW(S, T) \
  template Narrowed narrow_values<S, T>(Host&, Arena&, CsrView<T> const&, Beyond, KeptDiagonal, S*);
TCSOLVE_NARROWER(TCSOLVE_NARROW)
#undef TCSOLVE_NARROW
#define TCSOLVE_NORM(S)                                                         \
  template double norm_without_scales<S>(Host&, Arena&, CsrView<S> const&, int, \
                                         std::int32_t const*, std::int32_t const*);
TCSOLVE_NORM(float)
TCSOLVE_NORM(half)
TCSOLVE_NORM(bfloat16)
#undef TCSOLVE_NORM

}  // namespace tcsolve::host
