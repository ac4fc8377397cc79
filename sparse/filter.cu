// SPDX-License-Identifier: Apache-2.0
/// Filters on the device (sparse/filter.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/filter_build.hpp>

namespace tcsolve::cuda {

template <class T>
void mark_strong(Device& device, Arena& arena, CsrView<T> const& a, double theta,
                 std::uint8_t* keep) {
  Converter on(device, arena);
  sparse::mark_strong(on, a, theta, keep);
}

sparse::FilteredPattern filter_pattern(Device& device, Arena& arena, PatternView const& a,
                                       std::uint8_t const* keep, sparse::Lump lump) {
  Converter on(device, arena);
  return sparse::filter_pattern(on, a, keep, lump);
}

template <class T>
void filter_values(Device& device, Arena& arena, sparse::FilteredPattern const& made,
                   CsrView<T> const& a, T* to) {
  Converter on(device, arena);
  sparse::filter_values(on, made, a, to);
}

#define TCSOLVE_FILTER(T)                                                                  \
  template void mark_strong<T>(Device&, Arena&, CsrView<T> const&, double, std::uint8_t*); \
  template void filter_values<T>(Device&, Arena&, sparse::FilteredPattern const&,          \
                                 CsrView<T> const&, T*);
TCSOLVE_FILTER(double)
TCSOLVE_FILTER(float)
#undef TCSOLVE_FILTER

}  // namespace tcsolve::cuda
