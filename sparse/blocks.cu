// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, and their products, on the device (sparse/blocks.hpp, sparse/product.hpp).
#include <tcsolve/sparse/blocks_build.hpp>
#include <tcsolve/sparse/groups.cuh>
#include <tcsolve/sparse/product_blocks_build.hpp>

namespace tcsolve::cuda {

sparse::OwnedPattern blocks_of(Device& device, Arena& arena, PatternView const& a, Index r,
                               Index c) {
  Converter on(device, arena);
  return sparse::blocks_of(on, a, r, c);
}
sparse::OwnedPattern entries_of(Device& device, Arena& arena, PatternView const& blocks, Index r,
                                Index c) {
  Converter on(device, arena);
  return sparse::entries_of(on, blocks, r, c);
}

template <class T>
void block_product_values(Device& device, Arena& arena, sparse::ProductPattern const& made,
                          sparse::BlockFactors const& factors, CsrView<T> const& a, T const* b,
                          T* c) {
  GroupConverter on(device, arena);
  sparse::block_product_values(on, made, factors, a, b, c);
}
template void block_product_values<double>(Device&, Arena&, sparse::ProductPattern const&,
                                           sparse::BlockFactors const&, CsrView<double> const&,
                                           double const*, double*);
template void block_product_values<float>(Device&, Arena&, sparse::ProductPattern const&,
                                          sparse::BlockFactors const&, CsrView<float> const&,
                                          float const*, float*);

}  // namespace tcsolve::cuda
