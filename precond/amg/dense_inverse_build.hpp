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
struct MeanOfMirrors {
  Index n;
  double const* x;
  Index* columns;
  double* values;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const i = e / n, j = e % n;
    columns[e] = static_cast<Index>(j);
    values[e] = 0.5 * (x[e] + x[j * n + i]);
  }
};

template <class On>
DenseInverse dense_inverse(On& on, CsrView<double> const& a) {
  Index const n = a.rows;
  std::int64_t const all = std::int64_t{n} * n;
  auto* x = on.template take<double>(all);
  auto* y = on.template take<double>(all);
  auto* const diagonal = on.template take<double>(n);
  auto* const pivots = on.template take<double>(n);
  auto* const offsets = on.template take<Offset>(std::int64_t{n} + 1);
  on.each(n, Densify{a, x, diagonal});
  for (Index k = 0; k < n; ++k) {
    on.each(all, Eliminate{n, k, x, y, pivots});
    std::swap(x, y);
  }
  on.each(std::int64_t{n} + 1, FullRows{n, offsets});
  DenseInverse made;
  made.pattern = sparse::with_offsets(on, n, n, offsets);
  made.values = Array<double>(on.space(), static_cast<std::size_t>(all));
  on.each(all, MeanOfMirrors{n, x, made.pattern.columns.data(), made.values.data()});
  std::vector<double> before(n), left(n);
  on.read(diagonal, before.data(), n);
  on.read(pivots, left.data(), n);
  made.definite = true;
  for (Index k = 0; k < n; ++k)
    made.definite =
        made.definite && left[k] > zero_eigenvalue * before[k] && left[k] <= 2 * before[k];
  return made;
}

}  // namespace tcsolve
