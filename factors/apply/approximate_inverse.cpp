// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/approximate_inverse.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tcsolve/factors/each_row.hpp>

namespace tcsolve {

Csr<double> triangular_inverse(Context& ctx, Csr<double> const& t, bool lower) {
  Csr<double> w;
  w.rows = w.cols = t.rows;
  w.offsets.resize(static_cast<std::size_t>(t.rows) + 1);
  for (Index i = 0; i <= t.rows; ++i) w.offsets[i] = t.offsets[i] + i;
  w.columns.resize(static_cast<std::size_t>(w.offsets[t.rows]));
  w.values.resize(w.columns.size());
  CancelFlag const cancel = ctx.cancel_flag();
  each_row(ctx, t.rows, 512, [&](Index i) {
    auto const columns = t.row_columns(i);
    auto const count = static_cast<Offset>(columns.size());
    Index* const column = w.columns.data() + w.offsets[i];
    double* const value = w.values.data() + w.offsets[i];
    // w_ii = 1 stands last in a row of a lower triangle, first in one of an upper one.
    std::copy(columns.begin(), columns.end(), column + (lower ? 0 : 1));
    column[lower ? count : 0] = i;
    std::fill_n(value, count + 1, 0.0);
    value[lower ? count : 0] = 1;
    // (W T)_ij = 0 for j of the pattern: w_ij = - sum_k w_ik t_kj, k between i and j.
    for (Offset step = 0; step <= count; ++step) {
      if (step % 256 == 255) cancel.check();
      Offset const k = lower ? count - step : step;
      if (value[k] == 0) continue;
      Index const row = column[k];
      Offset e = t.offsets[row];
      Offset const end = t.offsets[row + 1];
      Offset at = 0;
      while (e < end && at <= count) {  // both ascend
        if (t.columns[e] < column[at]) {
          ++e;
        } else if (t.columns[e] > column[at]) {
          ++at;
        } else {
          value[at] -= value[k] * t.values[e];
          ++e;
          ++at;
        }
      }
    }
  });
  return w;
}

ApproximateTriangles triangular_inverses(Context& ctx, TriangularFactors const& factors,
                                         bool symmetric) {
  ApproximateTriangles W;
  W.lower = triangular_inverse(ctx, factors.lower, true);
  W.upper = symmetric ? transpose(W.lower.view()) : triangular_inverse(ctx, factors.upper, false);
  return W;
}

InverseFactors inverse_factors(Context& ctx, TriangularFactors const& factors,
                               TwoSided const& sides, bool symmetric) {
  InverseFactors result;
  ApproximateTriangles W = triangular_inverses(ctx, factors, symmetric);
  Csr<double>& w = W.lower;
  for (Index i = 0; i < w.rows; ++i)
    for (Offset k = w.offsets[i]; k < w.offsets[i + 1]; ++k) {
      Index const j = w.columns[k];
      w.values[k] = factors.inverse_pivots[i] * w.values[k] * sides.row_scale[j];
      w.columns[k] = sides.row[j];
    }
  result.first = canonical(w.view(), Duplicates::refuse, NonFinite::keep);
  w = std::move(W.upper);
  // Rows in A's order.
  Csr<double>& out = result.second;
  out.rows = out.cols = w.rows;
  std::vector<Index> row_of(sides.column.size());
  for (Index i = 0; i < w.rows; ++i) row_of[sides.column[i]] = i;
  for (Index j = 0; j < w.rows; ++j) {
    Index const i = row_of[j];
    for (Offset k = w.offsets[i]; k < w.offsets[i + 1]; ++k) {
      out.columns.push_back(w.columns[k]);
      out.values.push_back(w.values[k] * sides.column_scale[i]);
    }
    out.offsets.push_back(out.entries());
  }
  return result;
}

}  // namespace tcsolve
