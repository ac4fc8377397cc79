// SPDX-License-Identifier: Apache-2.0
/// The products with SELL-32 on the device: a thread a row, or, of row-major blocks, a row and a
/// pack of columns (kernels/cuda/pack.cuh).
#include <tcsolve/formats/sell/columns.hpp>
#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/pack.cuh>

namespace tcsolve::cuda {

namespace {

template <class S, class T>
__global__ void __launch_bounds__(PackRows::threads, 4)
    sell_columns_kernel(SellMultiply<S, Pack<T>> op, LoopState* state, PackRows rows) {
  if (Frame{state, false}.stopped()) return;
  rows.each([&](std::int64_t, std::int64_t i, int j) {
    Pack<T>& y = op.y.data[i * op.y.row_stride + j];
    PackColumn<T> const x(op.x.data, op.x.row_stride, j);
    Pack<T> const sum = op.alpha * sell_row(op.a, i, x, 1);
    y = op.beta == Pack<T>(0) ? sum : sum + op.beta * y;
  });
}

template <class S, class T>
void multiply(Device& on, LoopState* state, SellMultiply<S, T> const& op) {
  if (op.n == 0) return;
  if (!has_packs(op.x) || !has_packs(op.y)) {
    op_kernel<<<grid_for<SellMultiply<S, T>>(on, op.n), block_size, 0, on.stream>>>(op, state,
                                                                                    on.scratch);
  } else {
    SellMultiply<S, Pack<T>> const packs{
        op.n / Pack<T>::columns, Pack<T>(op.alpha), op.a,
        packs_of(op.x),          Pack<T>(op.beta),  packs_of(op.y)};
    PackRows const rows(on, op.a.rows, packs.y.cols);
    sell_columns_kernel<S, T><<<rows.blocks, PackRows::threads, 0, on.stream>>>(packs, state, rows);
  }
  check(cudaGetLastError());
}

/// The product of one column, and the step that takes each of its rows.
template <class S, class T>
struct SellMultiplyThen {
  static constexpr char const* name = "sell_multiply_then";
  static constexpr bool long_elements = true;
  std::int64_t n;
  SellMultiply<S, T> product;
  SmoothingStep<T> step;
  __device__ void element(std::int64_t i, NoCoefficients c, double* sum) const {
    product.element(i, c, sum);
    step.take(i, product.y[i]);
  }
};

}  // namespace

template <class S, class T>
void multiply_then(Device& on, LoopState* state, SellMultiply<S, T> const& op,
                   SmoothingStep<T> const& step) {
  using Both = SellMultiplyThen<S, T>;
  if (op.n == 0) return;
  op_kernel<<<grid_for<Both>(on, op.n), block_size, 0, on.stream>>>(Both{op.n, op, step}, state,
                                                                    on.scratch);
  check(cudaGetLastError());
}
#define TCSOLVE_INSTANTIATE(S, T)                                                   \
  template void multiply_then<S, T>(Device&, LoopState*, SellMultiply<S, T> const&, \
                                    SmoothingStep<T> const&);
TCSOLVE_STEP_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

#define TCSOLVE_SPECIALISE(S, T)                                             \
  template <>                                                                \
  void execute(Device& on, LoopState* state, SellMultiply<S, T> const& op) { \
    multiply(on, state, op);                                                 \
  }
TCSOLVE_VALUE_PAIRS(TCSOLVE_SPECIALISE)
#undef TCSOLVE_SPECIALISE

template struct Executes<Join<ForValuePairs<SellMultiplyDot>, SellExactOps>>;

}  // namespace tcsolve::cuda
