// SPDX-License-Identifier: Apache-2.0
/// P^T A P without A P on the device (sparse/triple_product.hpp).
#include <tcsolve/sparse/groups.cuh>
#include <tcsolve/sparse/triple_product_blocks_build.hpp>

namespace tcsolve::cuda {

std::optional<sparse::ProductPattern> aggregate_pattern(Device& device, Arena& arena,
                                                        PatternView const& a, PatternView const& p,
                                                        PatternView const& pt,
                                                        sparse::ProductLimits const& limits) {
  GroupConverter on(device, arena);
  return sparse::aggregate_pattern(on, a, p, pt, limits,
                                   [&](PatternView const& left, sparse::RightFactor const& right) {
                                     return product_pattern(device, arena, left, right, limits);
                                   });
}

template <class T>
void aggregate_values(Device& device, Arena& arena, sparse::AggregateProduct const& plan,
                      CsrView<T> const& a, CsrView<T> const& p, PatternView const& pt, T* c) {
  GroupConverter on(device, arena);
  if (plan.factors)
    sparse::block_aggregate_values(on, plan, a, p, c);
  else
    sparse::aggregate_values(on, plan.made, a, p, pt, c);
}

#define TCSOLVE_AGGREGATES(T)                                                         \
  template void aggregate_values<T>(Device&, Arena&, sparse::AggregateProduct const&, \
                                    CsrView<T> const&, CsrView<T> const&, PatternView const&, T*);
TCSOLVE_AGGREGATES(double)
TCSOLVE_AGGREGATES(float)
#undef TCSOLVE_AGGREGATES

}  // namespace tcsolve::cuda
