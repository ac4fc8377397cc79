// SPDX-License-Identifier: Apache-2.0
/// The fused operations that many share, on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/shared_ops.hpp>

namespace tcsolve::host {

/// Row by row, so that no element divides to find its row and column.
template <class T>
struct Walk<Multiply<T>> {
  static void elements(Multiply<T> const op, NoCoefficients, std::int64_t begin, std::int64_t end,
                       double*) {
    Index const cols = op.y.cols;
    if (cols == 1) {
      for (std::int64_t i = begin; i < end; ++i) op.element(i, {}, nullptr);
      return;
    }
    std::int64_t row = begin / cols;
    for (std::int64_t i = begin; i < end; ++row) {
      double const d = double(op.d[row]);
      std::int64_t const next = std::min(end, (row + 1) * cols);
      T const* x = op.x.data + row * op.x.row_stride + (i - row * cols) * op.x.col_stride;
      T* y = op.y.data + row * op.y.row_stride + (i - row * cols) * op.y.col_stride;
      for (; i < next; ++i, x += op.x.col_stride, y += op.y.col_stride) {
        double const v = op.alpha * (d * double(*x));
        *y = T(op.beta == 0 ? v : v + op.beta * double(*y));
      }
    }
  }
  static std::int64_t grain(Multiply<T> const&) { return chunk; }
};

template struct WalksExactly<OpList<ShiftResidual>>;
template struct Executes<SharedOps>;

}  // namespace tcsolve::host
