// SPDX-License-Identifier: Apache-2.0
/// Products with SELL-32 (formats/sell/sell.hpp; Kreutzer et al. 2014, section 2).
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/sell/lines.hpp>
#include <tcsolve/formats/sell/sell.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// Reads a stored entry; what streams is the first to leave the caches. (Keeping it out of L1
/// altogether was measured slower: 166 instead of 150 us an iteration on elasticity_56.)
template <class E>
TCSOLVE_HD E load_entry(E const* p, bool streams) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(E) == 2) {
    auto const* bits = reinterpret_cast<unsigned short const*>(p);
    unsigned short v = streams ? __ldcs(bits) : __ldg(bits);
    return *reinterpret_cast<E const*>(&v);
  } else {
    return streams ? __ldcs(p) : __ldg(p);
  }
#else
  (void)streams;
  return *p;
#endif
}

/// sum += values[j] x[columns[j]] over `count` positions, C apart, in their order. All are loaded
/// before any is added, none under a condition: how many loads are in flight is what limits the
/// product, and what depends on where a row ends makes the compiler load one after another.
template <int count, int C, class S, class I, class X, class T>
TCSOLVE_HD void sell_add(S const* values, I const* columns, bool streams, X x, std::int64_t stride,
                         T& sum) {
  S value[count];
  I column[count];
  T xj[count];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < count; ++k) {
    value[k] = load_entry(values + k * C, streams);
    column[k] = load_entry(columns + k * C, streams);
  }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < count; ++k) xj[k] = x[column[k] * stride];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < count; ++k) sum += T(value[k]) * xj[k];
}

/// The sum over `width` positions, C apart, of values[j] x[columns[j]], in T and in order, padding
/// and all: the lanes of a warp take one way together.
template <bool streams, int C, class S, class I, class X>
TCSOLVE_HD auto sell_sum(S const* values, I const* columns, Index width, X x, std::int64_t stride) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  T sum = T(0);
  Index j = 0;
  auto const add = [&]<int count>() {
    sell_add<count, C>(values + j * C, columns + j * C, streams, x, stride, sum);
    j += count;
  };
  while (j + 8 <= width) add.template operator()<8>();
  switch (width - j) {
    case 7: add.template operator()<7>(); break;
    case 6: add.template operator()<6>(); break;
    case 5: add.template operator()<5>(); break;
    case 4: add.template operator()<4>(); break;
    case 3: add.template operator()<3>(); break;
    case 2: add.template operator()<2>(); break;
    case 1: add.template operator()<1>(); break;
    default: break;
  }
  return sum;
}

/// The positions of a row that one of several threads takes: a stretch of them.
struct SellShare {
  int lane = 0, lanes = 1;
  TCSOLVE_HD Index begin(Index width) const {
    return lanes == 1 ? 0 : static_cast<Index>(std::int64_t{width} * lane / lanes);
  }
  TCSOLVE_HD Index end(Index width) const {
    return lanes == 1 ? width : static_cast<Index>(std::int64_t{width} * (lane + 1) / lanes);
  }
};

/// The sum over row i of a_ij x_j, or over a share of it; x a pointer, or what reads like one.
/// Padding is 0 and adds nothing, unless it meets an Inf or NaN of x, which makes NaN: such a sum
/// is made anew, by the row's entries alone.
template <bool streams, class S, class X>
TCSOLVE_HD auto sell_row(SellView<S> const& a, std::int64_t i, X x, std::int64_t stride,
                         SellShare share = {}) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  constexpr int C = SellView<S>::C;
  SellSlice const slice = a.slices[i / C];
  Index const begin = share.begin(slice.width), end = share.end(slice.width), width = end - begin;
  S const* const values = a.values + slice.values + i % C + Offset{begin} * C;
  Offset const first = slice.indices + i % C + Offset{begin} * C;
  T sum = slice.wide ? sell_sum<streams, C>(values, a.columns + first, width, x, stride)
                     : sell_sum<streams, C>(values, a.deltas + first, width,
                                            x + slice.base * stride, stride);
  if (sum == sum) return sum;
  sum = T(0);
  Index const length = a.lengths[i], count = (length < end ? length : end) - begin;
  for (Offset j = 0; j < count; ++j) {
    Offset const at = first + j * C;
    Index const column = slice.wide ? a.columns[at] : slice.base + a.deltas[at];
    sum += T(values[j * C]) * x[column * stride];
  }
  return sum;
}

template <class S, class X>
TCSOLVE_HD auto sell_row(SellView<S> const& a, std::int64_t i, X x, std::int64_t stride,
                         SellShare share = {}) {
  return a.streams ? sell_row<true>(a, i, x, stride, share)
                   : sell_row<false>(a, i, x, stride, share);
}

/// Threads that share a row by stretches of eight entries and more, as long as most would have
/// none.
template <class S>
int sell_lanes(std::int64_t rows, SellView<S> const& a, int teams, int threads) {
  std::int64_t const each = (rows + teams - 1) / teams;
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * each <= threads && 16 * lanes * rows <= a.entries) lanes *= 2;
  return lanes;
}

/// y = alpha A x + beta y, blocks of vectors.
template <class S, class T>
struct SellMultiply {
  static constexpr char const* name = "sell_multiply";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< rows times columns of y
  T alpha;
  SellView<S> a;
  Elements<T const> x;
  T beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e, j = 0;
    if (y.cols > 1) i = e / y.cols, j = e % y.cols;  // a division costs as much as a short row
    T const* column = x.data + j * x.col_stride;
    // A known stride spares a product of 64 bits for each entry.
    T const sum =
        x.row_stride == 1 ? sell_row(a, i, column, 1) : sell_row(a, i, column, x.row_stride);
    y[e] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[e];
  }
  void const* gathered() const { return x.data; }
  Index columns() const { return y.cols; }
  int lanes(int teams, int threads) const { return sell_lanes(n, a, teams, threads); }
  T const** input() { return x.cols == 1 && x.row_stride == 1 ? &x.data : nullptr; }
};

/// y = alpha A x, sigma = <x, y>, one column.
template <class S, class T>
struct SellMultiplyDot {
  static constexpr char const* name = "sell_multiply_dot";
  static constexpr bool long_elements = true;
  static constexpr int sums = 1;
  std::int64_t n;
  T alpha;
  SellView<S> a;
  T const* x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    T const yi = alpha * sell_row(a, i, x, 1);
    y[i] = yi;
    sum[0] += double(x[i]) * double(yi);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
  void const* gathered() const { return x; }
  int lanes(int teams, int threads) const { return sell_lanes(n, a, teams, threads); }
};

/// What sums residuals exactly.
using SellExactOps = OpList<ExactResidual<SellView<double>>>;
using SellProducts = ForValuePairs<SellMultiply, SellMultiplyDot>;

}  // namespace tcsolve
