// SPDX-License-Identifier: Apache-2.0
/// Values in a narrower type on the device (matrix/narrow.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/matrix/narrow_build.hpp>

namespace tcsolve::cuda {

template <class S, class T>
Narrowed narrow_values(Device& device, Arena& arena, CsrView<T> const& a, Beyond beyond,
                       KeptDiagonal kept, S* to) {
  Converter on(device, arena);
  return narrowing::narrow_values<S>(on, a, beyond, kept, to);
}
template <class S>
double norm_without_scales(Device& device, Arena& arena, CsrView<S> const& b, int shift,
                           std::int32_t const* rows, std::int32_t const* columns) {
  Converter on(device, arena);
  return narrowing::norm_without_scales(on, b, shift, rows, columns);
}

#define TCSOLVE_NARROW(S, T)                                                                      \
  template Narrowed narrow_values<S, T>(Device&, Arena&, CsrView<T> const&, Beyond, KeptDiagonal, \
                                        S*);
TCSOLVE_NARROWER(TCSOLVE_NARROW)
#undef TCSOLVE_NARROW
#define TCSOLVE_NORM(S)                                                           \
  template double norm_without_scales<S>(Device&, Arena&, CsrView<S> const&, int, \
                                         std::int32_t const*, std::int32_t const*);
TCSOLVE_NORM(float)
TCSOLVE_NORM(half)
TCSOLVE_NORM(bfloat16)
#undef TCSOLVE_NORM

}  // namespace tcsolve::cuda
