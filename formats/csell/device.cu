// SPDX-License-Identifier: Apache-2.0
/// Products with SELL-32-sigma with compressed columns: a warp a strip (formats/csell/strip.cuh).
///
///   grid    as many warps as run at a time, so many strips for each that all end together
///   sigma   lane, warp, block; the last block adds the partial sums in block order
///   packs   of row-major blocks a thread has a line and 16 bytes of columns
///           (kernels/cuda/pack.cuh), where no row is long
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/csell/csell.hpp>
#include <tcsolve/formats/csell/ops.hpp>
#include <tcsolve/formats/csell/strip.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/finish_sigma.cuh>
#include <tcsolve/kernels/cuda/pack.cuh>
#include <tcsolve/kernels/cuda/stepping_range.cuh>
#include <tcsolve/kernels/cuda/warp_sums.cuh>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve::cuda {

namespace {

/// Steps that are multiplied at once, and blocks that a multiprocessor holds then. Measured:
/// docs/formats/csell.md.
template <int steps_, int blocks_>
struct CsellForm {
  static constexpr int warps = 4, steps = steps_, blocks = blocks_;
};
template <class S>
using Form = CsellForm<8, sizeof(S) == 8   ? 5
                          : sizeof(S) == 4 ? 8
                                           : 9>;

template <class Form>
__device__ Index first_strip() {
  return blockIdx.x * Form::warps + threadIdx.x / 32;
}
template <class Form>
__device__ Index strip_stride() {
  return gridDim.x * Form::warps;
}

/// One more than a strip has slices: the step that makes their number even may look like the end of
/// a slice, whose sum is not used.
template <class Form, class T>
struct Kept {
  T sums[Form::warps][CsellTuning::deepest + 1][CsellView<T>::C];
};

template <bool adjacent, class Form, class S, class T, class Y>
__global__ void __launch_bounds__(Form::warps * 32, Form::blocks)
    csell_kernel(CsellView<S> a, T const* x, std::int64_t stride, Y y, T* parts, LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  __shared__ Kept<Form, T> kept;
  csell_strips<Form::steps, adjacent>(a, first_strip<Form>(), strip_stride<Form>(), x, stride,
                                      kept.sums[threadIdx.x / 32], [&](Index line, T sum) {
                                        Index const row = a.order == nullptr ? line : a.order[line];
                                        if (row < 0)
                                          parts[~row] = sum;
                                        else
                                          y.write(row, sum);
                                      });
}

template <class Form, class S, class T>
__global__ void __launch_bounds__(Form::warps * 32, Form::blocks)
    csell_dot_kernel(CsellView<S> a, T const* x, Range<T> y, double* sigma, Scratch scratch,
                     LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  __shared__ Kept<Form, T> kept;
  double mine = 0;
  csell_strips<Form::steps, true>(a, first_strip<Form>(), strip_stride<Form>(), x, std::int64_t{1},
                                  kept.sums[threadIdx.x / 32], [&](Index line, T sum) {
                                    Index const row = a.order == nullptr ? line : a.order[line];
                                    y.write(row, sum);
                                    mine += double(x[row]) * double(y.alpha * sum);
                                  });
  __syncwarp();
  finish_sigma(mine, sigma, scratch);
}

/// sum += entries [begin, end) of a lane's line times packs of x, four on their way.
template <class I, class S, class T>
__device__ __forceinline__ void add_line(CsellView<S> const& a, CsellStrip const& strip, int lane,
                                         Index begin, Index end, PackColumn<T> x, Pack<T>& sum) {
  constexpr int ahead = 4;
  S const* const values = a.values + Offset{strip.first} * CsellView<S>::C;
  I const* const numbers = reinterpret_cast<I const*>(a.numbers + Offset{strip.numbers} * 64);
  for (Index j = begin; j < end; j += ahead) {
    S v[ahead];
    Pack<T> e[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      Index const step = min(j + k, end - 1);
      Offset const at = a.place(step, lane);
      I const number = read_only(numbers + at);
      bool const wanted = j + k < end && number != csell_padding<I>;
      Index const column = read_only(a.bases + strip.first + step) + static_cast<Index>(number);
      v[k] = read_only(values + at);
      e[k] = wanted ? x[column] : Pack<T>(0);
    }
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      if (j + k < end) sum += Pack<T>(v[k]) * e[k];
  }
}

template <class S, class T>
__global__ void __launch_bounds__(PackRows::threads, 4)
    csell_columns_kernel(CsellView<S> a, PackRows rows, Pack<T> const* x, std::int64_t stride,
                         Range<Pack<T>> y, LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  rows.each([&](std::int64_t, std::int64_t line, int j) {
    Index const slice = static_cast<Index>(line / CsellView<S>::C);
    int const lane = static_cast<int>(line % CsellView<S>::C);
    CsellStrip const strip = load_strip(a.strips + slice / a.depth);
    Index const begin = slice % a.depth == 0 ? 0 : __ldg(a.ends + slice - 1),
                end = __ldg(a.ends + slice);
    PackColumn<T> const X(x, stride, j);
    Pack<T> sum = {};
    if (strip.bytes == 1)
      add_line<std::uint8_t>(a, strip, lane, begin, end, X, sum);
    else if (strip.bytes == 2)
      add_line<std::uint16_t>(a, strip, lane, begin, end, X, sum);
    else
      add_line<std::int32_t>(a, strip, lane, begin, end, X, sum);
    Index const row = a.order == nullptr ? static_cast<Index>(line) : a.order[line];
    Range<Pack<T>>{y.alpha, y.beta, y.y + j, y.stride}.write(row, sum);
  });
}

/// Row long_row[k]: its parts, by one thread in their order, or by a warp.
template <int lanes, class S, class T, class Y>
__global__ void __launch_bounds__(128)
    add_parts_kernel(CsellView<S> a, T const* parts, Y y, LoopState* loop) {
  if (Frame{loop}.stopped()) return;
  Index const k = (blockIdx.x * 128 + threadIdx.x) / lanes;
  if (k >= a.long_rows) return;
  Index const first = a.long_start[k], end = a.long_start[k + 1];
  T sum = 0;
#pragma unroll 4
  for (Index p = first + threadIdx.x % lanes; p < end; p += lanes) sum += parts[p];
  if constexpr (lanes == 32) sum = warp_sum(sum);
  if (threadIdx.x % lanes == 0) y.write(a.long_row[k], sum);
}

template <class Form>
unsigned int grid(Device const& on, Index strips) {
  Index const most = Form::blocks * on.properties.multiProcessorCount * Form::warps;
  Index const rounds = (strips + most - 1) / most;
  Index const warps = (strips + rounds - 1) / rounds;
  return static_cast<unsigned int>((warps + Form::warps - 1) / Form::warps);
}

template <bool adjacent, class S, class T, class Y>
void column(Device& on, CsellProduct<S, T> const& p, T const* x, std::int64_t stride, Y const& y) {
  using F = Form<S>;
  CsellView<S> const& a = p.a;
  csell_kernel<adjacent, F>
      <<<grid<F>(on, a.count), F::warps * 32, 0, on.stream>>>(a, x, stride, y, p.parts, p.loop);
  check(cudaGetLastError());
  if (a.long_rows == 0) return;
  bool const many = a.parts >= 16 * Offset{a.long_rows};
  Offset const needed = (Offset{a.long_rows} * (many ? 32 : 1) + 127) / 128;
  auto const rows = static_cast<unsigned int>(needed);
  if (many)
    add_parts_kernel<32><<<rows, 128, 0, on.stream>>>(a, static_cast<T const*>(p.parts), y, p.loop);
  else
    add_parts_kernel<1><<<rows, 128, 0, on.stream>>>(a, static_cast<T const*>(p.parts), y, p.loop);
  check(cudaGetLastError());
}

}  // namespace

template <class S, class T>
void spmm_csell(Device& on, CsellProduct<S, T> const& p) {
  if (p.a.rows == 0) return;
  Elements<T const> const x = p.x;
  Elements<T> const y = p.y;
  if (p.a.long_rows == 0 && has_packs(x) && has_packs(y)) {
    auto const from = packs_of(x);
    auto const to = packs_of(y);
    PackRows const rows(on, p.a.lines, to.cols);
    csell_columns_kernel<S, T><<<rows.blocks, PackRows::threads, 0, on.stream>>>(
        p.a, rows, from.data, from.row_stride,
        Range<Pack<T>>{Pack<T>(p.alpha), Pack<T>(p.beta), to.data, to.row_stride}, p.loop);
    return check(cudaGetLastError());
  }
  for (Index j = 0; j < y.cols; ++j) {
    T const* const from = x.data + j * x.col_stride;
    Range<T> const to{p.alpha, p.beta, y.data + j * y.col_stride, y.row_stride};
    if (x.row_stride == 1)
      column<true>(on, p, from, x.row_stride, to);
    else
      column<false>(on, p, from, x.row_stride, to);
  }
}

template <class S, class T>
void spmv_then_csell(Device& on, CsellProduct<S, T> const& p, SmoothingStep<T> const& step) {
  if (p.a.rows == 0) return;
  column<true>(on, p, p.x.data, std::int64_t{1},
               SteppingRange<T>{{p.alpha, p.beta, p.y.data, 1}, step});
}

template <class S, class T>
void spmv_dot_csell(Device& on, CsellProduct<S, T> const& p, double* sigma) {
  using F = Form<S>;
  if (p.a.rows == 0) {
    check(cudaMemsetAsync(sigma, 0, sizeof(double), on.stream));
    return;
  }
  Range<T> const y{p.alpha, T(0), p.y.data, 1};
  csell_dot_kernel<F><<<grid<F>(on, p.a.count), F::warps * 32, 0, on.stream>>>(
      p.a, p.x.data, y, sigma, on.scratch, p.loop);
  check(cudaGetLastError());
  end_sigma(on, sigma);
}

#define TCSOLVE_INSTANTIATE(S, T)                                     \
  template void spmm_csell<S, T>(Device&, CsellProduct<S, T> const&); \
  template void spmv_dot_csell<S, T>(Device&, CsellProduct<S, T> const&, double*);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmv_then_csell<S, T>(Device&, CsellProduct<S, T> const&, SmoothingStep<T> const&);
TCSOLVE_STEP_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<CsellExactOps>;

}  // namespace tcsolve::cuda
