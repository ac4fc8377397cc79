// SPDX-License-Identifier: Apache-2.0
/// What a matrix cannot do for lack of entries, whatever their values.
///
///     A = [ 2  1  . ]      row 2 is empty: its equation reads 0 = b_2. Rows 1 and 2 have entries
///         [ .  .  . ]      in columns 1 and 2 alone, so the structural rank is 2
///         [ 1  3  4 ]
#pragma once

#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// Rows and columns without an entry that is not zero, ascending.
struct EmptyLines {
  std::vector<Index> rows, columns;
};
/// Of a host matrix. Cost: one pass, a byte a column.
EmptyLines empty_lines(CsrView<double> const& a);

/// The largest number of nonzero entries of which no two share a row or a column: an upper bound of
/// the rank. Shortest augmenting paths, all of one length together (Hopcroft and Karp 1973). A on
/// the host. Cost: one pass where the diagonal of a square A has no zero, else O(entries sqrt n) at
/// worst, some passes for most matrices; serial; 20 bytes a row.
Index structural_rank(CsrView<double> const& a, CancelFlag cancel = {});

}  // namespace tcsolve
