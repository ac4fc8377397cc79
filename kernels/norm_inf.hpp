// SPDX-License-Identifier: Apache-2.0
/// The infinity norm of a CSR matrix, for set-up: one word comes to the host.
///
///   host    a row a task
///   cuda    up to 1024 entries of a row to one thread, or four where rows are not short; then the
///           shares of each row. A row of millions is shared by thousands of threads
///   bytes   entries sizeof(S) + 8 or 32 (rows + entries / 1024), twice + offsets, twice
///   bits    the same on every run
#pragma once

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/verbs/matrix.hpp>

namespace tcsolve {

enum class RowSums { by_row, by_share };

/// max_i sum_j |a_ij|; NaN when an entry is. a lies in the Context's space.
template <class S>
double norm_inf(Context& ctx, CsrView<S> const& a, RowSums way) {
  auto scope = ctx.arena().scope();
  double* value = scope.template take<double>(1);
  if (way == RowSums::by_row) {
    sweep(ctx, MaxRowSum<S>{a.rows, a, value});
    return read(ctx, value);
  }
  RowShares shares = row_shares(a);
  std::int64_t n = shares.threads(a.entries);
  double* parts = scope.template take<double>(static_cast<std::size_t>(n));
  sweep(ctx, SumShares<S>{n, shares, a.values, parts});
  sweep(ctx, MaxShares{a.rows, shares, parts, value});
  return read(ctx, value);
}
template <class S>
double norm_inf(Context& ctx, CsrView<S> const& a) {
  return norm_inf(ctx, a, ctx.space() == Space::host ? RowSums::by_row : RowSums::by_share);
}

}  // namespace tcsolve
