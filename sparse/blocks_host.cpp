// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, and their products, on the host (sparse/blocks.hpp, sparse/product.hpp).
#include <tcsolve/sparse/blocks_build.hpp>
#include <tcsolve/sparse/host_groups.hpp>
#include <tcsolve/sparse/product_blocks_build.hpp>

namespace tcsolve::host {

sparse::OwnedPattern blocks_of(Host&, Arena& arena, PatternView const& a, Index r, Index c) {
  Converter on(arena);
  return sparse::blocks_of(on, a, r, c);
}
sparse::OwnedPattern entries_of(Host&, Arena& arena, PatternView const& blocks, Index r, Index c) {
  Converter on(arena);
  return sparse::entries_of(on, blocks, r, c);
}

template <class T>
void block_product_values(Host&, Arena& arena, sparse::ProductPattern const& made,
                          sparse::BlockFactors const& factors, CsrView<T> const& a, T const* b,
                          T* c) {
  GroupConverter on(arena);
  sparse::block_product_values(on, made, factors, a, b, c);
}
template void block_product_values<double>(Host&, Arena&, sparse::ProductPattern const&,
                                           sparse::BlockFactors const&, CsrView<double> const&,
                                           double const*, double*);
template void block_product_values<float>(Host&, Arena&, sparse::ProductPattern const&,
                                          sparse::BlockFactors const&, CsrView<float> const&,
                                          float const*, float*);

}  // namespace tcsolve::host
