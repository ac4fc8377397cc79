// SPDX-License-Identifier: Apache-2.0
/// ILU(k): the pattern by level of fill, and the numbers on a pattern, by rows.
#include <tcsolve/factors/make/incomplete.hpp>

#include <algorithm>
#include <functional>
#include <queue>

#include <tcsolve/factors/make/pivots.hpp>
#include <tcsolve/factors/make/sparse_rows.hpp>

namespace tcsolve {

using namespace elimination;

namespace {

/// The triangles of B.
TriangularFactors pattern_without_fill(Csr<double> const& B, CancelFlag cancel) {
  TriangularFactors factors;
  RowWriter lower(factors.lower, B.rows), upper(factors.upper, B.rows);
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < B.rows; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    for (Index const j : B.row_columns(i))
      if (j < i)
        lower.add(j, 0);
      else if (j > i)
        upper.add(j, 0);
    lower.end_row();
    upper.end_row();
  }
  lower.finish();
  upper.finish();
  factors.inverse_pivots.assign(static_cast<std::size_t>(B.rows), 1.0);
  return factors;
}

}  // namespace

TriangularFactors fill_pattern(Csr<double> const& B, int level, Offset limit, CancelFlag cancel) {
  if (level == 0) {
    require_within(B.entries(), limit);
    return pattern_without_fill(B, cancel);
  }
  Index const n = B.rows;
  TriangularFactors factors;
  RowWriter lower(factors.lower, n), upper(factors.upper, n);
  std::vector<int> levels_of_upper;  // beside the entries of U
  std::vector<int> level_of(n, 0);
  std::vector<Index> row_of(n, nobody);
  std::vector<Index> eliminated, kept;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> open;
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    eliminated.clear();
    kept.clear();
    auto const insert = [&](Index j, int l) {
      if (row_of[j] == i) {
        level_of[j] = std::min(level_of[j], l);
        return;
      }
      row_of[j] = i;
      level_of[j] = l;
      if (j < i)
        open.push(j);
      else if (j > i)
        kept.push_back(j);
    };
    for (Index const j : B.row_columns(i)) insert(j, 0);
    while (!open.empty()) {
      Index const k = open.top();
      open.pop();
      eliminated.push_back(k);
      at_times.add(8 + factors.upper.offsets[k + 1] - factors.upper.offsets[k]);
      for (Offset e = factors.upper.offsets[k]; e < factors.upper.offsets[k + 1]; ++e)
        if (int const l = level_of[k] + levels_of_upper[e] + 1; l <= level)
          insert(factors.upper.columns[e], l);
    }
    std::sort(kept.begin(), kept.end());
    for (Index const j : eliminated) lower.add(j, 0);
    for (Index const j : kept) {
      upper.add(j, 0);
      levels_of_upper.push_back(level_of[j]);
    }
    lower.end_row();
    upper.end_row();
    require_within(factors.lower.entries() + factors.upper.entries(), limit);
  }
  lower.finish();
  upper.finish();
  factors.inverse_pivots.assign(static_cast<std::size_t>(n), 1.0);
  return factors;
}

void factorise_on_pattern(Csr<double> const& B, double floor, TriangularFactors& factors,
                          CancelFlag cancel) {
  Index const n = B.rows;
  Csr<double>&L = factors.lower, &U = factors.upper;
  SparseRow w(n);
  factors.replaced = 0;
  factors.shift = 0;
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < n; ++i) {
    at_times.add(static_cast<std::int64_t>(B.row_columns(i).size()));
    w.begin(i);
    w.insert(i, 0);
    for (Index const j : L.row_columns(i)) w.insert(j, 0);
    for (Index const j : U.row_columns(i)) w.insert(j, 0);
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (w.has(B.columns[k])) w[B.columns[k]] = B.values[k];
    for (Offset e = L.offsets[i]; e < L.offsets[i + 1]; ++e) {
      Index const k = L.columns[e];
      double const v = w[k];  // (L D)_ik
      if (v != 0) {
        at_times.add(U.offsets[k + 1] - U.offsets[k]);
        if (factors.complete)
          for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
            w[U.columns[f]] -= v * U.values[f];
        else
          for (Offset f = U.offsets[k]; f < U.offsets[k + 1]; ++f)
            if (w.has(U.columns[f])) w[U.columns[f]] -= v * U.values[f];
      }
      L.values[e] = v * factors.inverse_pivots[k];
    }
    double const inverse = inverse_pivot(w[i], floor * row_size(B.view(), i), factors.replaced);
    factors.inverse_pivots[i] = inverse;
    for (Offset f = U.offsets[i]; f < U.offsets[i + 1]; ++f)
      U.values[f] = w[U.columns[f]] * inverse;
  }
}

}  // namespace tcsolve
