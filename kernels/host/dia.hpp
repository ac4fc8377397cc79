// SPDX-License-Identifier: Apache-2.0
/// The products with diagonals walk up to nine diagonals at a time on the host, over two thousand
/// rows, so that their values and x are read in runs: in place of their element() they have a
/// walk() of their own, which host/sweep.cpp prefers. The same additions in the same order.
#pragma once

#include <algorithm>
#include <utility>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/host/widen.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>

namespace tcsolve::host {

constexpr std::int64_t dia_rows = 2048;  ///< whose sums stay in the first cache
constexpr std::integral_constant<std::int64_t, 1> adjacent;

struct Rows {
  std::int64_t first, last;
};

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
void dia_add(std::integer_sequence<int, k...>, DiaView<S> const& a, DiaDiagonal const* diagonals,
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
void dia_sums(DiaView<S> const& a, Rows rows, T const* x, Stride stride, T* sums) {
  // Rows whose entry lies within the matrix and before the mirrored diagonal's end.
  auto const inside = [&](DiaDiagonal d, Rows in) {
    return Rows{std::max<std::int64_t>(in.first, -std::int64_t{d.offset}),
                std::min({in.last, std::int64_t{d.last}, std::int64_t{a.cols} - d.offset})};
  };
  auto const add = [&](auto group, DiaDiagonal const* diagonals, Rows in) {
    dia_add(group, a, diagonals, in, x, stride, rows.first, sums);
  };
  std::fill_n(sums, rows.last - rows.first, T(0));
  constexpr int most = 9;  // three of 27, nine of 81
  DiaDiagonal const *next = a.diagonals, *const end = next + a.distinct;
  for (Index groups = (a.distinct + most - 1) / most; groups > 0; --groups) {
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
  // A hole is -0 and changes no sum, unless x is Inf or NaN there: such rows are added anew.
  int undefined = 0;
  for (std::int64_t r = 0; r < rows.last - rows.first; ++r) undefined |= sums[r] != sums[r];
  if (undefined == 0) return;
  for (std::int64_t i = rows.first; i < rows.last; ++i)
    if (T& sum = sums[i - rows.first]; sum != sum) sum = dia_row(a, i, x, stride);
}

template <class S, class T>
void walk(DiaMultiply<S, T> const verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*) {
  auto const& [n, alpha, a, x, beta, y] = verb;
  T sums[dia_rows];
  for (std::int64_t row = begin / y.cols; row < end / y.cols; row += dia_rows)
    for (Index j = 0; j < y.cols; ++j) {
      std::int64_t const rows = std::min(dia_rows, end / y.cols - row);
      T const* const column = x.data + j * x.col_stride;
      if (x.row_stride == 1)
        dia_sums(a, {row, row + rows}, column, adjacent, sums);
      else
        dia_sums(a, {row, row + rows}, column, x.row_stride, sums);
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

template <class S, class T>
void walk(DiaMultiplyDot<S, T> const verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double* sum) {
  T sums[dia_rows];
  for (std::int64_t row = begin; row < end; row += dia_rows) {
    std::int64_t const rows = std::min(dia_rows, end - row);
    dia_sums(verb.a, {row, row + rows}, verb.x, adjacent, sums);
    for (std::int64_t r = 0; r < rows; ++r) {
      T const yi = verb.alpha * sums[r];
      verb.y[row + r] = yi;
      sum[0] += double(verb.x[row + r]) * double(yi);
    }
  }
}

/// Elements that a thread takes at a time: whole rows.
template <class S, class T>
std::int64_t task(DiaMultiply<S, T> const& verb) {
  std::int64_t const cols = std::max<Index>(verb.y.cols, 1);
  return std::max<std::int64_t>(chunk / cols, 1) * cols;
}

}  // namespace tcsolve::host
