// SPDX-License-Identifier: Apache-2.0
/// Whether a matrix may give its values to one that was made before.
#pragma once

#include <algorithm>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// Throws ShapeError where a has other extents or another number of entries than `made`, the view
/// of a matrix in any format.
template <class Made, class S>
void require_extents(char const* name, Made const& made, CsrView<S> const& a) {
  if (a.rows != made.rows || a.cols != made.cols)
    throw ShapeError(cat(name, ": update_values: the matrix is ", made.rows, " x ", made.cols,
                         ", the new one ", a.rows, " x ", a.cols, "; make another operator"));
  if (a.entries != made.entries)
    throw ShapeError(cat(name, ": update_values: the matrix has ", made.entries,
                         " entries, the new one ", a.entries, "; make another operator"));
}

/// Throws MatrixError where the offsets of a host matrix do not ascend from 0 to its entries:
/// others would have kernels read what is not there. Cost: a pass over the offsets.
template <class T>
void require_offsets(CsrView<T> const& a);

/// Throws MatrixError naming the first row whose columns are not those of a, a matrix in either
/// space. For a time when update_values() is not trusted:
///
///     require_same_pattern(ctx, A.matrix().to_csr(ctx), a);
///     require_same_pattern(ctx, to_host(ctx, A.view()), a);        // CsrOperator
///
/// Cost: both matrices come to the host.
template <class S>
void require_same_pattern(Context& ctx, Csr<S> const& made, CsrView<S> const& a) {
  require_extents("pattern", made.view(), a);
  Csr<S> given = to_host(ctx, a);
  for (Index i = 0; i < made.rows; ++i)
    if (!std::ranges::equal(made.row_columns(i), given.row_columns(i)))
      throw MatrixError(cat("row ", i + 1, ": the new matrix has its ", given.row_columns(i).size(),
                            " entries elsewhere; make another operator"));
}

}  // namespace tcsolve
