// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>

#include <atomic>

#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/precond/schwarz/dense_blocks.hpp>
#include <tcsolve/precond/schwarz/part_inverses_build.hpp>

namespace tcsolve::host {

sparse::OwnedPattern overlap_links(Host&, Arena& arena, PatternView a, Index most,
                                   Offset& longest) {
  Converter on(arena);
  return schwarzes::links(on, a, most, longest);
}
void gather_blocks(Host&, Arena& arena, CsrView<double> const& a, PartBlocks const& blocks,
                   double* values) {
  Converter on(arena);
  schwarzes::gather(on, a, blocks, values);
}
void add_inverses(Host&, Arena& arena, CancelFlag cancel, PatternView const& m,
                  PartBlocks const& blocks, double const* values, double* sums) {
  Converter on(arena);
  schwarzes::add(on, cancel, m, blocks, values, sums);
}

Index invert_blocks(Host&, Arena&, CancelFlag cancel, BlockRange const& blocks, double* values) {
  using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Index const count = blocks.count();
  std::atomic<Index> bad = count;
  parallel(count, 2, [&](std::int64_t k) {
    cancel.check();
    Index const m = blocks.sizes[k];
    Eigen::Map<Dense> block(values + (blocks.starts[k] - blocks.starts[0]), m, m);
    constexpr Index quick = 256;  // some milliseconds
    Dense const inverse = m <= quick ? Dense(Eigen::PartialPivLU<Dense>(block).inverse())
                                     : leaving_behind(cancel, [own = Dense(block)] {
                                         return Dense(Eigen::PartialPivLU<Dense>(own).inverse());
                                       });
    block = inverse;
    if (inverse.allFinite()) return;
    auto const own = static_cast<Index>(k);
    for (Index first = bad; own < first && !bad.compare_exchange_weak(first, own);) {}
  });
  return bad < count ? bad.load() : -1;
}

}  // namespace tcsolve::host
