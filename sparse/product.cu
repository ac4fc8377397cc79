// SPDX-License-Identifier: Apache-2.0
/// A B on the device (sparse/product.hpp).
#include <tcsolve/sparse/groups.cuh>
#include <tcsolve/sparse/product_build.hpp>

namespace tcsolve::cuda {

sparse::ProductPattern product_pattern(Device& device, Arena& arena, PatternView const& a,
                                       sparse::RightFactor const& b,
                                       sparse::ProductLimits const& limits) {
  return sparse::product_pattern([&] { return GroupConverter(device, arena); }, a, b, limits);
}

template <class T>
void product_values(Device& device, Arena& arena, sparse::ProductPattern const& made,
                    CsrView<T> const& a, CsrView<T> const& b, T* c) {
  sparse::product_values([&] { return GroupConverter(device, arena); }, made, a, b, c);
}

#define TCSOLVE_PRODUCT(T)                                                        \
  template void product_values<T>(Device&, Arena&, sparse::ProductPattern const&, \
                                  CsrView<T> const&, CsrView<T> const&, T*);
TCSOLVE_PRODUCT(double)
TCSOLVE_PRODUCT(float)
#undef TCSOLVE_PRODUCT

}  // namespace tcsolve::cuda
