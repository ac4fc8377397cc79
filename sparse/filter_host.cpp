// SPDX-License-Identifier: Apache-2.0
/// Filters on the host (sparse/filter.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/filter_build.hpp>

namespace tcsolve::host {

template <class T>
void mark_strong(Host&, Arena& arena, CsrView<T> const& a, double theta, std::uint8_t* keep) {
  Converter on(arena);
  sparse::mark_strong(on, a, theta, keep);
}

sparse::FilteredPattern filter_pattern(Host&, Arena& arena, PatternView const& a,
                                       std::uint8_t const* keep, sparse::Lump lump) {
  Converter on(arena);
  return sparse::filter_pattern(on, a, keep, lump);
}

template <class T>
void filter_values(Host&, Arena& arena, sparse::FilteredPattern const& made, CsrView<T> const& a,
                   T* to) {
  Converter on(arena);
  sparse::filter_values(on, made, a, to);
}

#define TCSOLVE_FILTER(T)                                                                          \
  template void mark_strong<T>(Host&, Arena&, CsrView<T> const&, double, std::uint8_t*);           \
  template void filter_values<T>(Host&, Arena&, sparse::FilteredPattern const&, CsrView<T> const&, \
                                 T*);
TCSOLVE_FILTER(double)
TCSOLVE_FILTER(float)
#undef TCSOLVE_FILTER

}  // namespace tcsolve::host
