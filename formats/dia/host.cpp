// SPDX-License-Identifier: Apache-2.0
/// Conversion to diagonals (formats/dia/build.hpp) and the products with them on the host.
///
///   sums   one a row, in storage order, no FMA (CMakeLists.txt): the bits of dia_row without lanes
///   groups up to nine diagonals in one pass over two thousand sums, which stay in the first cache
///   bytes  as the format's; the mirrored half of a symmetric matrix comes from the cache
#include <tcsolve/formats/dia/ops.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/formats/dia/build.hpp>
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/host/widen.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::host {

namespace {

constexpr std::int64_t rows_at_once = 2048;

struct Rows {
  std::int64_t first, last;
};

constexpr std::integral_constant<std::int64_t, 1> adjacent;  ///< a stride

/// f of 0, 1, ... count - 1 as constants, 1 <= count <= most.
template <int most, class F>
void with_group(Index count, F const& f) {
  if constexpr (most > 1)
    if (count < most) return with_group<most - 1>(count, f);
  f(std::make_integer_sequence<int, most>());
}

/// sums_r += the entries of row begin + r in diagonals k... times x, for `rows`, in which all of
/// them lie inside. In vectors where the stride is a constant.
template <int... k, class S, class T, class Stride>
void add_group(std::integer_sequence<int, k...>, DiaView<S> const& a, DiaDiagonal const* diagonals,
               Rows rows, T const* x, Stride stride, std::int64_t begin, T* __restrict sums) {
  S const* const values[] = {a.values + diagonals[k].start...};
  std::int64_t const offset[] = {diagonals[k].offset...};
  for (std::int64_t i = rows.first; i < rows.last; ++i) {
    T sum = sums[i - begin];
    ((sum += widen<T>(values[k][i]) * x[(i + offset[k]) * stride]), ...);
    sums[i - begin] = sum;
  }
}

/// sums_r = sum of a_ij x_j over row rows.first + r.
template <class S, class T, class Stride>
void row_sums(DiaView<S> const& a, Rows rows, T const* x, Stride stride, T* sums) {
  // Rows whose entry lies within the matrix and before the mirrored diagonal's end.
  auto const inside = [&](DiaDiagonal d, Rows in) {
    return Rows{std::max<std::int64_t>(in.first, -std::int64_t{d.offset}),
                std::min({in.last, std::int64_t{d.last}, std::int64_t{a.cols} - d.offset})};
  };
  auto const add = [&](auto group, DiaDiagonal const* diagonals, Rows in) {
    add_group(group, a, diagonals, in, x, stride, rows.first, sums);
  };
  std::fill_n(sums, rows.last - rows.first, T(0));
  DiaDiagonal const *next = a.diagonals, *end = next + a.distinct;
  // By ascending offset: what has no entry in these rows comes first and last.
  auto const none = [&](DiaDiagonal d) { return inside(d, rows).first >= inside(d, rows).last; };
  while (next < end && none(*next)) ++next;
  while (next < end && none(end[-1])) --end;
  constexpr std::ptrdiff_t most = 9;  // 27 diagonals in three groups
  for (std::ptrdiff_t groups = (end - next + most - 1) / most; groups > 0; --groups) {
    DiaDiagonal const* const first = next;
    next += (end - first + groups - 1) / groups;  // groups of one size
    Rows common = rows;
    for (auto d = first; d < next; ++d) common = inside(*d, common);
    if (common.first >= common.last) common = {rows.last, rows.last};
    auto const alone = [&](Rows in) {
      for (auto d = first; d < next; ++d) add(std::integer_sequence<int, 0>(), d, inside(*d, in));
    };
    alone({rows.first, common.first});
    with_group<most>(next - first, [&](auto group) { add(group, first, common); });
    alone({common.last, rows.last});
  }
  // Padding is -0 and changes no sum, unless x is Inf or NaN there: such rows are added anew.
  int undefined = 0;
  for (std::int64_t r = 0; r < rows.last - rows.first; ++r) undefined |= sums[r] != sums[r];
  if (undefined == 0) return;
  for (std::int64_t i = rows.first; i < rows.last; ++i)
    if (T& sum = sums[i - rows.first]; sum != sum) sum = dia_row(a, i, x, stride);
}

}  // namespace

template <class S, class T>
struct Walk<DiaMultiply<S, T>> {
  static void elements(DiaMultiply<S, T> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double*) {
    auto const [n, alpha, a, x, beta, y] = op;
    T sums[rows_at_once];
    for (std::int64_t row = begin / y.cols; row < end / y.cols; row += rows_at_once)
      for (Index j = 0; j < y.cols; ++j) {
        std::int64_t const rows = std::min(rows_at_once, end / y.cols - row);
        T const* const column = x.data + j * x.col_stride;
        if (x.row_stride == 1)
          row_sums(a, {row, row + rows}, column, adjacent, sums);
        else
          row_sums(a, {row, row + rows}, column, x.row_stride, sums);
        T* const out = y.data + row * y.row_stride + j * y.col_stride;
        if (beta == T(0) && y.row_stride == 1)  // in vectors
          for (std::int64_t r = 0; r < rows; ++r) out[r] = alpha * sums[r];
        else
          for (std::int64_t r = 0; r < rows; ++r) {
            T& to = out[r * y.row_stride];
            to = beta == T(0) ? alpha * sums[r] : alpha * sums[r] + beta * to;
          }
      }
  }
  /// Whole rows.
  static std::int64_t grain(DiaMultiply<S, T> const& op) {
    std::int64_t const cols = std::max<Index>(op.y.cols, 1);
    return std::max<std::int64_t>(chunk / cols, 1) * cols;
  }
};

template <class S, class T>
struct Walk<DiaMultiplyDot<S, T>> {
  static void elements(DiaMultiplyDot<S, T> const& op, NoCoefficients, std::int64_t begin,
                       std::int64_t end, double* sum) {
    T sums[rows_at_once];
    for (std::int64_t row = begin; row < end; row += rows_at_once) {
      std::int64_t const rows = std::min(rows_at_once, end - row);
      row_sums(op.a, {row, row + rows}, op.x, adjacent, sums);
      for (std::int64_t r = 0; r < rows; ++r) {
        T const yi = op.alpha * sums[r];
        op.y[row + r] = yi;
        sum[0] += double(op.x[row + r]) * double(yi);
      }
    }
  }
  static std::int64_t grain(DiaMultiplyDot<S, T> const&) { return chunk; }
};

template <class S>
Index count_diagonals(Host&, Arena& arena, CsrView<S> const& a) {
  Converter on(arena);
  return dia::count(on, a);
}
template <class S>
DiaArrays<S> build_dia(Host&, Arena& arena, CsrView<S> const& a, DiaTuning const& tuning) {
  Converter on(arena);
  return dia::build(on, a, tuning);
}
template <class S>
void refill_dia(Host&, Arena& arena, CsrView<S> const& a, DiaArrays<S>& m) {
  Converter on(arena);
  dia::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                            \
  template Index count_diagonals<S>(Host&, Arena&, CsrView<S> const&);                    \
  template DiaArrays<S> build_dia<S>(Host&, Arena&, CsrView<S> const&, DiaTuning const&); \
  template void refill_dia<S>(Host&, Arena&, CsrView<S> const&, DiaArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

/// By diagonals, some rows at a time. Padding is -0, which changes no sum unless it multiplies an
/// Inf or NaN of x: such a row is added anew.
template <>
struct Each<ExactResidual<DiaView<double>>> {
  [[gnu::always_inline]] static inline void run(ExactResidual<DiaView<double>> const op,
                                                std::int64_t begin, std::int64_t end) {
    constexpr int most = 256;
    DiaView<double> const& a = op.a;
    for (std::int64_t first = begin; first < end; first += most) {
      std::int64_t const last = std::min(first + most, end);
      RowSums<most> sums;
      for (Index k = 0; k < a.count; ++k) {
        DiaDiagonal const d = a.diagonals[k];
        std::int64_t const low = std::max<std::int64_t>(first, -std::int64_t{d.offset});
        std::int64_t const high = std::min<std::int64_t>(last, std::int64_t{a.cols} - d.offset);
        std::int64_t const inside = std::min<std::int64_t>(high, std::int64_t{d.last} + 1);
        double const* const values = a.values + d.start;
        double const* const x = op.v.x + d.offset;
        std::int64_t const begins = low - first, ends = inside - first;
        for (std::int64_t i = begins; i < ends; ++i)
          sums.subtract_product(i, values[first + i], x[first + i]);
        if (inside < high && !is_padding(values[d.last]))
          for (std::int64_t i = std::max(low, inside); i < high; ++i)
            sums.subtract_product(i - first, values[d.last], x[i]);
      }
      for (std::int64_t i = first; i < last; ++i) {
        RowSum const row = sums[i - first];
        if (std::isfinite(row.sum.high))
          op.v.finish(i, row);
        else
          op.element(i, {}, nullptr);
      }
    }
  }
};

template struct WalksExactly<DiaExactOps>;
template struct Executes<Join<DiaProducts, DiaExactOps>>;

}  // namespace tcsolve::host
