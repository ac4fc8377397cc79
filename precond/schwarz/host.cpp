// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>

#include <atomic>

#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/precond/schwarz/dense_blocks.hpp>

namespace tcsolve::host {

Index invert_blocks(Host&, Arena&, CancelFlag cancel, DenseBlocks const& blocks, double* values) {
  using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  auto const count = static_cast<Index>(blocks.sizes.size());
  std::atomic<Index> bad = count;
  parallel(count, 2, [&](std::int64_t k) {
    cancel.check();
    Index const m = blocks.sizes[k];
    Eigen::Map<Dense> block(values + blocks.starts[k], m, m);
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
