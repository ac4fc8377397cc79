// SPDX-License-Identifier: Apache-2.0
/// The inverse of a small positive definite matrix, written once for both backends
/// (kernels/convert.hpp): Gauss-Jordan elimination, from one dense copy into another, with a panel
/// K of columns at a time,
///
///     u = x_KK^-1 (x_Kj, where j is of K: its column of I)
///     y_Kj = u
///     y_ij = (x_ij, where j is of K: 0) - x_iK u
///
/// without a choice of pivots (Golub and Van Loan 2013, section 4.2: none is needed). The pivots of
/// x_KK are those of an elimination column by column. A thread makes u of its column j anew, some
/// 250 operations in registers, where a kernel for each column of the matrix would take 4 us.
#pragma once

#include <utility>
#include <vector>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/warp_moves.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/rounded.hpp>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve {

struct Densify {
  CsrView<double> a;
  double *dense, *diagonal;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    double* const row = dense + i * a.cols;
    for (Index j = 0; j < a.cols; ++j) row[j] = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      row[a.columns[k]] = a.values[k];
    diagonal[i] = row[i];
  }
};

/// A thread has column j of `tile` rows.
struct EliminatePanel {
  static constexpr Index panel = 8, tile = 8;
  Index n, first;  ///< K: columns first, first + 1, .. of n
  double const* x;
  double *y, *pivots;

  static std::int64_t threads(Index n) { return std::int64_t{(n + tile - 1) / tile} * n; }
  /// a - b c
  TCSOLVE_HD static double less(double a, double b, double c) {
    return sparse::sum_of(a, -sparse::product_of(b, c));
  }
  TCSOLVE_HD void operator()(std::int64_t e) const {
    auto const thread = static_cast<std::uint32_t>(e), columns = static_cast<std::uint32_t>(n);
    auto const of_rows = static_cast<Index>(thread / columns);
    auto const j = static_cast<Index>(thread - static_cast<std::uint32_t>(of_rows) * columns);
    Index const width = n - first < panel ? n - first : panel;
    bool const of_panel = j >= first && j < first + width;
    double const* const rows = x + std::int64_t{first} * n;  // x_K
    double u[panel];
    TCSOLVE_UNROLL
    for (Index k = 0; k < panel; ++k)
      u[k] = k >= width ? 0.0 : of_panel ? (j == first + k ? 1.0 : 0.0) : rows[k * n + j];
    solve(rows + first, width, u, thread == 0);
    if (of_rows == 0) {
      TCSOLVE_UNROLL
      for (Index k = 0; k < panel; ++k)
        if (k < width) y[std::int64_t{first + k} * n + j] = u[k];
    }
    for (Index i = of_rows * tile, end = i + tile < n ? i + tile : n; i < end; ++i) {
      if (i >= first && i < first + width) continue;
      double const* const row = x + std::int64_t{i} * n;
      double v = of_panel ? 0.0 : row[j];
      TCSOLVE_UNROLL
      for (Index k = 0; k < panel; ++k)
        if (k < width) v = less(v, row[first + k], u[k]);
      y[std::int64_t{i} * n + j] = v;
    }
  }
  /// u = x_KK^-1 u. Beyond `width` x_KK is taken to be I.
  TCSOLVE_HD void solve(double const* x_KK, Index width, double (&u)[panel], bool leads) const {
    double m[panel][panel], inverse[panel];
    TCSOLVE_UNROLL
    for (Index k = 0; k < panel; ++k) {
      TCSOLVE_UNROLL
      for (Index l = 0; l < panel; ++l)
        m[k][l] = k < width && l < width ? x_KK[k * n + l] : k == l ? 1.0 : 0.0;
    }
    TCSOLVE_UNROLL
    for (Index k = 0; k < panel; ++k) {
      if (leads && k < width) pivots[first + k] = m[k][k];
      inverse[k] = 1 / m[k][k];
      TCSOLVE_UNROLL
      for (Index i = k + 1; i < panel; ++i) {
        double const factor = sparse::product_of(m[i][k], inverse[k]);
        TCSOLVE_UNROLL
        for (Index l = k + 1; l < panel; ++l) m[i][l] = less(m[i][l], factor, m[k][l]);
        u[i] = less(u[i], factor, u[k]);
      }
    }
    TCSOLVE_UNROLL
    for (Index k = panel - 1; k >= 0; --k) {
      TCSOLVE_UNROLL
      for (Index l = k + 1; l < panel; ++l) u[k] = less(u[k], m[k][l], u[l]);
      u[k] = sparse::product_of(u[k], inverse[k]);
    }
  }
};

struct FullRows {
  Index n;
  Offset* offsets;  // (n + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const { offsets[i] = i * n; }
};
struct FullColumns {
  Index n;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t e) const { columns[e] = static_cast<Index>(e % n); }
};
template <class On>
sparse::OwnedPattern full_pattern(On& on, Index n) {
  auto* const offsets = on.template take<Offset>(std::int64_t{n} + 1);
  on.each(std::int64_t{n} + 1, FullRows{n, offsets});
  sparse::OwnedPattern made = sparse::with_offsets(on, n, n, offsets);
  on.each(std::int64_t{n} * n, FullColumns{n, made.columns.data()});
  return made;
}

struct MeanOfMirrors {
  Index n;
  double const* x;
  double* values;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const i = e / n, j = e % n;
    values[e] = 0.5 * (x[e] + x[j * n + i]);
  }
};

/// Whether every pivot was positive.
template <class On>
bool dense_inverse(On& on, CsrView<double> const& a, double* G) {
  Index const n = a.rows;
  std::int64_t const all = std::int64_t{n} * n;
  auto* x = on.template take<double>(all);
  auto* y = on.template take<double>(all);
  auto *const diagonal = on.template take<double>(2 * std::int64_t{n}), *const pivots =
                                                                            diagonal + n;
  on.each(n, Densify{a, x, diagonal});
  for (Index first = 0; first < n; first += EliminatePanel::panel) {
    on.each(EliminatePanel::threads(n), EliminatePanel{n, first, x, y, pivots});
    std::swap(x, y);
  }
  on.each(all, MeanOfMirrors{n, x, G});
  std::vector<double> before(2 * std::size_t(n));
  on.read(diagonal, before.data(), 2 * std::int64_t{n});
  double const* const left = before.data() + n;
  bool definite = true;
  for (Index k = 0; k < n; ++k)
    definite = definite && left[k] > zero_eigenvalue * before[k] && left[k] <= 2 * before[k];
  return definite;
}

}  // namespace tcsolve
