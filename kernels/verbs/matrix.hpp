// SPDX-License-Identifier: Apache-2.0
/// Verbs that read a CSR matrix once: norms and diagonals for set-up; and products with dense
/// blocks.
#pragma once

#include <cmath>

#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

/// d_i = 1 / a_ii (0 where a_ii is absent or zero, infinite or NaN where a_ii or its inverse is out
/// of the range of T), counts[0] = rows without a diagonal entry, counts[1] = rows where it is
/// negative, counts[2] = rows where it or its inverse is out of range.
template <class S, class T>
struct InverseDiagonal {
  static constexpr char const* name = "inverse_diagonal";
  static constexpr int sums = 3;
  std::int64_t n;
  CsrView<S> a;
  T* d;
  double* counts;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double a_ii = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (a.columns[k] == i) a_ii = double(a.values[k]);
    T inverse = T(a_ii == 0 ? 0.0 : 1 / a_ii);
    if (a_ii != 0 && inverse == T(0))
      inverse = T(HUGE_VAL);  // a_ii is infinite, or 1 / a_ii underflows
    sum[0] += a_ii == 0;
    sum[1] += a_ii < 0;
    sum[2] += !is_finite(double(inverse));
    d[i] = inverse;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < 3; ++k) counts[k] = sum[k];
  }
};

/// sum_j |a_ij|, in order.
template <class S>
TCSOLVE_HD double row_size(CsrView<S> const& a, std::int64_t i) {
  Offset const begin = a.offsets[i];
  auto const count = static_cast<Index>(a.offsets[i + 1] - begin);
  S const* const values = a.values + begin;
  double sum = 0;
  for (Index k = 0; k < count; ++k) sum += magnitude(double(values[k]));
  return sum;
}

/// value = ||A||_inf, the largest row sum of |a_ij|.
template <class S>
struct MaxRowSum {
  static constexpr char const* name = "max_row_sum";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;
  CsrView<S> a;
  double* value;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double const row = row_size(a, i);
    sum[0] = (row != row || row > sum[0]) ? row : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *value = sum[0]; }
};

/// d_i = 1 / ||2^-e row i||_2; 0 for a row of zeros. With A^T these are columns of A.
template <class S>
struct InverseRowNorms {
  static constexpr char const* name = "inverse_row_norms";
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<S> a;
  double factor, factor2;  ///< 2^-e
  double* d;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    double largest = 0, sum = 0;
    for (Offset k = begin; k < end; ++k) {
      double const v = magnitude(double(a.values[k]) * factor * factor2);
      largest = v > largest ? v : largest;
    }
    if (largest == 0) {
      d[i] = 0;
      return;
    }
    for (Offset k = begin; k < end; ++k) {
      double const v = double(a.values[k]) * factor * factor2 / largest;
      sum += v * v;
    }
    double const inverse = 1 / sqrt(sum) / largest;
    d[i] = is_finite(inverse) ? inverse : 0x1p+1023;
  }
};

/// Rows of any length in parts: row i has shares offsets[i] / size + i and on, enough for its
/// entries, and `lanes` threads read a share side by side.
struct RowShares {
  static constexpr Offset size = 1024;  ///< entries
  OffsetsView offsets;
  Index rows;
  int lanes;
  TCSOLVE_HD Offset first(Index i) const { return offsets[i] / size + i; }
  std::int64_t threads(Offset entries) const { return lanes * (entries / size + rows); }
  /// Entries begin, begin + lanes, ... before end of a row.
  struct Part {
    Index row;
    Offset begin, end;
  };
  /// What thread t reads.
  TCSOLVE_HD Part part(std::int64_t t) const {
    Offset share = t / lanes;
    Index low = 0, high = rows;  // the row is the last that begins at or before the share
    while (high - low > 1) {
      Index middle = low + (high - low) / 2;
      (first(middle) <= share ? low : high) = middle;
    }
    Offset begin = offsets[low] + (share - first(low)) * size, end = offsets[low + 1];
    return {low, begin + t % lanes, begin + size < end ? begin + size : end};
  }
};
/// Four threads read a share where rows are not short.
template <class S>
RowShares row_shares(CsrView<S> const& a) {
  return {a.offsets, a.rows, a.entries >= 16 * Offset{a.rows} ? 4 : 1};
}

/// The values of A^T, whose pattern is there, from those of A: each looks for its place in a row of
/// A.
template <class S>
struct TransposeValues {
  static constexpr char const* name = "transpose_values";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< lanes times shares
  RowShares shares;
  CsrView<S> a;
  std::int32_t const* columns;  ///< of A^T
  S* values;
  TCSOLVE_HD void element(std::int64_t t, NoCoefficients, double*) const {
    RowShares::Part part = shares.part(t);
    for (Offset k = part.begin; k < part.end; k += shares.lanes) {
      Offset low = a.offsets[columns[k]], high = a.offsets[columns[k] + 1];
      while (high - low > 1) {
        Offset middle = low + (high - low) / 2;
        (a.columns[middle] <= part.row ? low : high) = middle;
      }
      if (low < high) values[k] = a.values[low];  // else the pattern is another
    }
  }
};

/// y = B x, B block diagonal with dense blocks: row i of its block starts at column start[i], has
/// width[i] values from values[offset[i]].
template <class T>
struct BlockMultiply {
  static constexpr char const* name = "block_multiply";
  std::int64_t n;
  double alpha;
  Index const *start, *width;
  Offset const* offset;
  T const* values;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e / y.cols, j = e % y.cols;
    double a = 0;
    for (Index k = 0; k < width[i]; ++k)
      a += double(values[offset[i] + k]) * double(x[(std::int64_t{start[i]} + k) * y.cols + j]);
    y[e] = T(beta == 0 ? alpha * a : alpha * a + beta * double(y[e]));
  }
  void const* gathered() const { return x.data; }
};

/// The entries of the longest row.
template <class S>
struct LongestRow {
  static constexpr char const* name = "longest_row";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;  ///< rows
  CsrView<S> a;
  double* length;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double const here = double(a.offsets[i + 1] - a.offsets[i]);
    sum[0] = here > sum[0] ? here : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *length = sum[0]; }
};

}  // namespace tcsolve
