// SPDX-License-Identifier: Apache-2.0
/// ICT: the same of a symmetric matrix, by rows of U.
#include <tcsolve/factors/make/incomplete.hpp>

#include <algorithm>
#include <cmath>

#include <tcsolve/factors/make/pivots.hpp>
#include <tcsolve/factors/make/sparse_rows.hpp>

namespace tcsolve {

using namespace elimination;

TriangularFactors threshold_cholesky(Csr<double> const& B, Dropping const& dropping, Offset limit,
                                     CancelFlag cancel) {
  Index const n = B.rows;
  std::vector<double> const diagonal = positive_diagonal(B);
  TriangularFactors factors;
  factors.shift = with_shifts(0, [&](double shift) {
    RowWriter upper(factors.upper, n);
    Csr<double> const& U = factors.upper;
    factors.inverse_pivots.clear();
    factors.inverse_pivots.reserve(static_cast<std::size_t>(n));
    ColumnLists rows_at(n);
    SparseRow w(n);
    std::vector<Index> right;
    CancelEvery at_times(cancel, between_looks / 4);
    for (Index i = 0; i < n; ++i) {
      at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
      double const least = dropping.tolerance * row_size(B.view(), i);
      w.begin(i);
      w.insert(i, (1 + shift) * diagonal[i]);
      right.clear();
      for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
        if (Index const j = B.columns[k]; j > i && w.insert(j, B.values[k])) right.push_back(j);
      rows_at.for_column(i, U, [&](Index k, Offset at) {
        double const v = U.values[at] / factors.inverse_pivots[k];  // (L D)_ik
        at_times.add(U.offsets[k + 1] - at);
        w[i] -= v * U.values[at];
        for (Offset f = at + 1; f < U.offsets[k + 1]; ++f)
          if (w.insert(U.columns[f], -v * U.values[f])) right.push_back(U.columns[f]);
      });
      if (!(w[i] > least_pivot * diagonal[i])) return false;
      std::erase_if(right, [&](Index j) { return !(std::abs(w[j]) > least); });
      keep_largest(right, w, dropping.most);
      std::sort(right.begin(), right.end());
      double const inverse = 1 / w[i];
      factors.inverse_pivots.push_back(inverse);
      for (Index const j : right) upper.add(j, w[j] * inverse);
      upper.end_row();
      rows_at.enter(i, U);
      require_within(2 * U.entries(), limit);
    }
    upper.finish();
    return true;
  });
  mirror(factors);
  return factors;
}

}  // namespace tcsolve
