// SPDX-License-Identifier: Apache-2.0
/// A B on the host (sparse/product.hpp).
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/product_build.hpp>

namespace tcsolve::host {

sparse::ProductPattern product_pattern(Host&, Arena& arena, PatternView const& a,
                                       PatternView const& b, sparse::ProductLimits const& limits) {
  return sparse::product_pattern([&] { return GroupConverter(arena); }, a, b, limits);
}

template <class T>
void product_values(Host&, Arena& arena, sparse::ProductPattern const& made, CsrView<T> const& a,
                    CsrView<T> const& b, T* c) {
  sparse::product_values([&] { return GroupConverter(arena); }, made, a, b, c);
}

#define TCSOLVE_PRODUCT(T)                                                                         \
  template void product_values<T>(Host&, Arena&, sparse::ProductPattern const&, CsrView<T> const&, \
                                  CsrView<T> const&, T*);
TCSOLVE_PRODUCT(double)
TCSOLVE_PRODUCT(float)
#undef TCSOLVE_PRODUCT

}  // namespace tcsolve::host
