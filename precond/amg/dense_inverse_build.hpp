// SPDX-License-Identifier: Apache-2.0
/// The inverse of a small positive definite matrix, written once for both backends
/// (kernels/convert.hpp): Gauss-Jordan elimination, from one dense copy into another,
///
///     y_kk = 1 / x_kk    y_kj = x_kj / x_kk    y_ik = -x_ik / x_kk    y_ij = x_ij - x_ik / x_kk x_kj
///
/// without a choice of pivots (Golub and Van Loan 2013, section 4.2: none is needed).
#pragma once

#include <utility>
#include <vector>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
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

struct Eliminate {
  Index n, k;
  double const* x;
  double *y, *pivots;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    auto const place = static_cast<std::uint32_t>(e);
    std::uint32_t const i = place / static_cast<std::uint32_t>(n),
                        own = static_cast<std::uint32_t>(k);
    std::uint32_t const j = place - i * static_cast<std::uint32_t>(n);
    double const pivot = x[std::int64_t{k} * n + k];
    if (i == own && j == own) {
      pivots[k] = pivot;
      y[e] = 1 / pivot;
    } else if (i == own) {
      y[e] = x[e] / pivot;
    } else {
      double const factor = x[std::int64_t{i} * n + k] / pivot;
      y[e] = j == own ? -factor : x[e] - factor * x[std::int64_t{k} * n + j];
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
  auto* const diagonal = on.template take<double>(n);
  auto* const pivots = on.template take<double>(n);
  on.each(n, Densify{a, x, diagonal});
  for (Index k = 0; k < n; ++k) {
    on.each(all, Eliminate{n, k, x, y, pivots});
    std::swap(x, y);
  }
  on.each(all, MeanOfMirrors{n, x, G});
  std::vector<double> before(n), left(n);
  on.read(diagonal, before.data(), n);
  on.read(pivots, left.data(), n);
  bool definite = true;
  for (Index k = 0; k < n; ++k)
    definite = definite && left[k] > zero_eigenvalue * before[k] && left[k] <= 2 * before[k];
  return definite;
}

}  // namespace tcsolve
