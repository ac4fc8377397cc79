// SPDX-License-Identifier: Apache-2.0
/// Products with a matrix by diagonals (formats/dia/dia.hpp; Saad 2003, section 3.4).
#pragma once

#include <tcsolve/formats/dia/dia.hpp>
#include <tcsolve/formats/dia/lines.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/kernels/read_only.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// sum += the entries of row i in `count` diagonals times x, in their order. All are loaded before
/// any is added, and none under a condition: the value of a diagonal outside of the matrix is
/// padding, which may multiply any x.
template <int count, class S, class X, class T>
TCSOLVE_HD void dia_add(DiaView<S> const& a, DiaDiagonal const* diagonals, Index i, X x,
                        std::int64_t stride, T& sum) {
  S value[count];
  T xj[count];
  Index const low = -i, high = a.cols - 1 - i;  // offsets that stay inside
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < count; ++k) {
    DiaDiagonal const d = diagonals[k];  // which may lie anywhere
    value[k] = read_only(a.values + d.start + (i < d.last ? i : d.last));
    Index offset = d.offset < low ? low : d.offset;
    offset = offset < high ? offset : high;
    xj[k] = x[(i + offset) * stride];
  }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < count; ++k)
    if (!is_padding(value[k])) sum += T(value[k]) * xj[k];
}

/// The sum over row i of a_ij x_j, x a pointer or what reads like one. With several lanes: the sum
/// over the diagonals of `lane`, which are every lanes-th group of eight.
template <class S, class X>
TCSOLVE_HD auto dia_row(DiaView<S> const& a, std::int64_t row, X x, std::int64_t stride,
                        Index lane = 0, Index lanes = 1) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  Index const i = static_cast<Index>(row);
  T sum = T(0);
  Index k = 8 * lane;
  for (; k + 8 <= a.count; k += 8 * lanes) dia_add<8>(a, a.diagonals + k, i, x, stride, sum);
  if (k < a.count) dia_add<4>(a, a.diagonals + k, i, x, stride, sum);
  return sum;
}

/// OpFacts::cache_share of the products in FP64: a thread of the persistent kernel has the loads of
/// four rows on their way, as many as the memory answers at once (docs/results/cg-h200.md). Those
/// of half as many bytes were not measured.
constexpr double dia_cache_share = 5;

/// Threads that share a row by diagonals, eight at a time: as long as few of the threads have a row
/// (two of them where half have one: 10.4 instead of 9.8 us a step of CG, 33k rows).
template <class S>
int dia_lanes(std::int64_t rows, DiaView<S> const& a, int teams, int threads) {
  std::int64_t const each = (rows + teams - 1) / teams;
  int lanes = 1;
  while (lanes < 32 && 4 * lanes * each < threads && 16 * lanes < a.count + 8) lanes *= 2;
  return lanes;
}
template <class S>
std::span<std::byte const> list_of_diagonals(DiaView<S> const& a) {
  return std::as_bytes(std::span(a.diagonals, static_cast<std::size_t>(a.count)));
}

/// y = alpha A x + beta y, blocks of vectors.
template <class S, class T>
struct DiaMultiply {
  static constexpr char const* name = "dia_multiply";
  static constexpr double cache_share = sizeof(T) == 8 ? dia_cache_share : 2;
  std::int64_t n;  ///< rows times columns of y
  T alpha;
  DiaView<S> a;
  Elements<T const> x;
  T beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e, j = 0;
    if (y.cols > 1) i = e / y.cols, j = e % y.cols;
    T const sum = dia_row(a, i, x.data + j * x.col_stride, x.row_stride);
    y[e] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[e];
  }
  void const* gathered() const { return x.data; }
  Index columns() const { return y.cols; }
  int lanes(int teams, int threads) const { return dia_lanes(n, a, teams, threads); }
  T const** input() { return x.cols == 1 && x.row_stride == 1 ? &x.data : nullptr; }
  std::span<std::byte const> table() const { return list_of_diagonals(a); }
};

/// y = alpha A x, sigma = <x, y>, one column.
template <class S, class T>
struct DiaMultiplyDot {
  static constexpr char const* name = "dia_multiply_dot";
  static constexpr double cache_share = sizeof(T) == 8 ? dia_cache_share : 2;
  static constexpr int sums = 1;
  std::int64_t n;
  T alpha;
  DiaView<S> a;
  T const* x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    T const yi = alpha * dia_row(a, i, x, 1);
    y[i] = yi;
    sum[0] += double(x[i]) * double(yi);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
  void const* gathered() const { return x; }
  int lanes(int teams, int threads) const { return dia_lanes(n, a, teams, threads); }
  std::span<std::byte const> table() const { return list_of_diagonals(a); }
};

// On the device the products have kernels of their own, in persistent loops kernels/loop/team.cuh.
namespace cuda {
#define TCSOLVE_DECLARE(S, T)                                  \
  template <>                                                  \
  void execute(Device&, LoopState*, DiaMultiply<S, T> const&); \
  template <>                                                  \
  void execute(Device&, LoopState*, DiaMultiplyDot<S, T> const&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_DECLARE)
#undef TCSOLVE_DECLARE
/// One column, and the step that takes each of its rows.
template <class S, class T>
void multiply_then(Device&, LoopState*, DiaMultiply<S, T> const&, SmoothingStep<T> const&);
}  // namespace cuda

/// What sums residuals exactly.
using DiaExactOps = OpList<ExactResidual<DiaView<double>>>;
using DiaProducts = ForValuePairs<DiaMultiply, DiaMultiplyDot>;

}  // namespace tcsolve
