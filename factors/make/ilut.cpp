// SPDX-License-Identifier: Apache-2.0
/// ILUT: what is large enough, and the largest entries of each row.
#include <tcsolve/factors/make/incomplete.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include <tcsolve/factors/make/pivots.hpp>
#include <tcsolve/factors/make/sparse_rows.hpp>

namespace tcsolve {

using namespace elimination;

TriangularFactors threshold_lu(Csr<double> const& B, Dropping const& dropping, double floor,
                               Offset limit, CancelFlag cancel) {
  Index const n = B.rows;
  TriangularFactors factors;
  RowWriter lower(factors.lower, n), upper(factors.upper, n);
  Csr<double> const& U = factors.upper;
  factors.inverse_pivots.reserve(static_cast<std::size_t>(n));
  SparseRow w(n);
  std::vector<Index> left, right;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> open;
  CancelEvery at_times(cancel, between_looks / 4);  // columns are searched for in heaps
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    double const size = row_size(B.view(), i), least = dropping.tolerance * size;
    w.begin(i);
    w.insert(i, 0);
    left.clear();
    right.clear();
    auto const enter = [&](Index j) {
      if (j < i)
        open.push(j);
      else if (j > i)
        right.push_back(j);
    };
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (w.insert(B.columns[k], B.values[k])) enter(B.columns[k]);
    while (!open.empty()) {
      Index const k = open.top();
      open.pop();
      double const v = w[k];  // (L D)_ik
      if (!(std::abs(v) > least)) continue;
      left.push_back(k);
      at_times.add(8 + U.offsets[k + 1] - U.offsets[k]);
      for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
        if (w.insert(U.columns[f], -v * U.values[f])) enter(U.columns[f]);
      w[k] = v * factors.inverse_pivots[k];
    }
    std::erase_if(right, [&](Index j) { return !(std::abs(w[j]) > least); });
    keep_largest(left, w, dropping.most);
    keep_largest(right, w, dropping.most);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    double const inverse = inverse_pivot(w[i], floor * size, factors.replaced);
    factors.inverse_pivots.push_back(inverse);
    for (Index const j : left) lower.add(j, w[j]);
    for (Index const j : right) upper.add(j, w[j] * inverse);
    lower.end_row();
    upper.end_row();
    require_within(factors.lower.entries() + factors.upper.entries(), limit);
  }
  lower.finish();
  upper.finish();
  return factors;
}

}  // namespace tcsolve
