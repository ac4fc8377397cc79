// SPDX-License-Identifier: Apache-2.0
/// The products with diagonals walk diagonal by diagonal on the host, two thousand rows at a
/// time, so that their values and x are read in runs: in place of their element() they have a
/// walk() of their own, which host/sweep.cpp prefers. The same additions in the same order.
#pragma once

#include <algorithm>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>

namespace tcsolve::host {

constexpr std::int64_t dia_rows = 2048;  ///< whose sums stay in the first cache

/// sums_r = sum of a_ij x_j over row begin + r, r < rows.
template <class S, class T>
void dia_sums(DiaView<S> const& a, std::int64_t begin, std::int64_t rows, T const* x,
              std::int64_t stride, T* sums) {
  std::fill_n(sums, rows, T(0));
  for (Index k = 0; k < a.count; ++k) {
    DiaDiagonal const d = a.diagonals[k];
    // Rows whose entry lies within the matrix and before the mirrored diagonal's end.
    std::int64_t const first = std::max<std::int64_t>(begin, -std::int64_t{d.offset});
    std::int64_t const last =
        std::min({begin + rows, std::int64_t{d.last}, std::int64_t{a.cols} - d.offset});
    S const* const values = a.values + d.start;
    if (stride == 1)  // in vectors
      for (std::int64_t i = first; i < last; ++i) sums[i - begin] += T(values[i]) * x[i + d.offset];
    else
      for (std::int64_t i = first; i < last; ++i)
        sums[i - begin] += T(values[i]) * x[(i + d.offset) * stride];
  }
  // A hole is -0 and changes no sum, unless x is Inf or NaN there: such rows are added anew.
  for (std::int64_t r = 0; r < rows; ++r)
    if (sums[r] != sums[r]) sums[r] = dia_row(a, begin + r, x, stride);
}

template <class S, class T>
void walk(DiaMultiply<S, T> const verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*) {
  auto const& [n, alpha, a, x, beta, y] = verb;
  T sums[dia_rows];
  for (std::int64_t row = begin / y.cols; row < end / y.cols; row += dia_rows)
    for (Index j = 0; j < y.cols; ++j) {
      std::int64_t const rows = std::min(dia_rows, end / y.cols - row);
      dia_sums(a, row, rows, x.data + j * x.col_stride, x.row_stride, sums);
      T* const out = y.data + row * y.row_stride + j * y.col_stride;
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
    dia_sums(verb.a, row, rows, verb.x, 1, sums);
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
