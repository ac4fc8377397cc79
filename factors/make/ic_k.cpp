// SPDX-License-Identifier: Apache-2.0
/// IC(k): the numbers of a symmetric factorisation on a pattern, shifted until every pivot is
/// positive.
#include <tcsolve/factors/make/incomplete.hpp>

#include <tcsolve/factors/make/pivots.hpp>
#include <tcsolve/factors/make/sparse_rows.hpp>

namespace tcsolve {

using namespace elimination;

void cholesky_on_pattern(Csr<double> const& B, TriangularFactors& factors, CancelFlag cancel) {
  Index const n = B.rows;
  Csr<double>& U = factors.upper;
  std::vector<double> const diagonal = positive_diagonal(B);
  factors.replaced = 0;
  factors.shift = with_shifts(factors.shift, [&](double shift) {
    ColumnLists rows_at(n);
    SparseRow row(n);
    CancelEvery at_times(cancel, between_looks);
    for (Index i = 0; i < n; ++i) {
      at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
      row.begin(i);
      row.insert(i, 0);
      for (Index const j : U.row_columns(i)) row.insert(j, 0);
      for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
        if (B.columns[k] >= i && row.has(B.columns[k])) row[B.columns[k]] = B.values[k];
      row[i] = (1 + shift) * diagonal[i];
      rows_at.for_column(i, U, [&](Index k, Offset at) {
        double const v = U.values[at] / factors.inverse_pivots[k];  // (L D)_ik
        at_times.add(U.offsets[k + 1] - at);
        if (factors.complete)
          for (Offset f = at; f < U.offsets[k + 1]; ++f) row[U.columns[f]] -= v * U.values[f];
        else
          for (Offset f = at; f < U.offsets[k + 1]; ++f)
            if (row.has(U.columns[f])) row[U.columns[f]] -= v * U.values[f];
      });
      if (!(row[i] > least_pivot * diagonal[i])) return false;
      factors.inverse_pivots[i] = 1 / row[i];
      for (Offset f = U.offsets[i]; f < U.offsets[i + 1]; ++f)
        U.values[f] = row[U.columns[f]] / row[i];
      rows_at.enter(i, U);
    }
    return true;
  });
  mirror(factors);
}

}  // namespace tcsolve
