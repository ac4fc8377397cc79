// SPDX-License-Identifier: Apache-2.0
/// What is computed of a CSR matrix by fused operations: the product, for a loop that cannot call a
/// library from within, the values of A^T, the norms of rows.
#pragma once

#include <cmath>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/formats/csr/lines.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// y = alpha A x + beta y, one column of adjacent entries; with sigma also sigma = <x, y>. Outside
/// of persistent loops the product is spmm_csr (formats/csr/product.hpp).
template <class S, class T>
struct CsrMultiply {
  static constexpr char const* name = "csr_multiply";
  std::int64_t n;
  T alpha;
  CsrView<S> a;
  T const* x;
  T beta;
  T* y;
  double* sigma;  ///< null: not wanted

  void const* gathered() const { return x; }
  int sum_count() const { return sigma != nullptr ? 1 : 0; }
  int lanes(int teams, int threads) const { return lanes_for(n, a.entries, teams, threads); }
  T const** input() { return sigma == nullptr ? &x : nullptr; }
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

/// The values of A^T, whose pattern was made before, from those of A: entry (j, i) of A^T searches
/// row i of A.
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

/// What sums residuals exactly.
using CsrExactOps = OpList<ExactResidual<CsrView<double>>, ExactResidual<CsrParts<double>>,
                           JoinResidual<CsrParts<double>>>;
using CsrOps =
    Join<ForValues<LongestRow, TransposeValues>, OpList<InverseRowNorms<double>>, CsrExactOps>;

}  // namespace tcsolve
