// SPDX-License-Identifier: Apache-2.0
/// The columns of a caller's block and those that a block method works on: row-major, in the
/// Context's space.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/column.hpp>

namespace tcsolve {

/// Columns [first, first + count) of v.
template <class T>
MultiView<T> columns_of(MultiView<T> const& v, Index first, Index count) {
  return {v.data + v.offset(0, first), v.rows, count, v.ld, v.layout, v.space};
}

/// The elements of v are those of a packed matrix, in its layout, without gaps.
template <class T>
bool packed(MultiView<T> const& v) {
  return v.ld == (v.layout == Layout::row_major ? v.cols : v.rows);
}

/// Rows with gaps between them are gathered on the host.
inline void require_host_rows(std::string const& who, Space space, Index cols, std::int64_t ld) {
  if (space != Space::host)
    throw ShapeError(cat(who, ": a row-major block with ", cols, " columns and rows ", ld,
                         " apart must lie on the host or in the Context's space"));
}

/// there = v, from any space. Rows of a row-major v on another device have no gaps between them.
/// Else throws ShapeError, naming `who`.
inline void fetch(Context& ctx, std::string const& who, In<double> v, Out<double> there) {
  if (v.size() == 0) return;
  if (v.space == ctx.space()) return copy<double, double>(ctx, v, there);
  auto scope = ctx.arena().scope();
  auto const bytes = [](std::int64_t n) { return sizeof(double) * static_cast<std::size_t>(n); };
  Out<double> here = v.layout == Layout::row_major ? scope.vectors<double>(v.rows, v.cols)
                                                   : scope.vectors<double>(v.rows, 1);
  if (v.layout == Layout::row_major) {
    std::vector<double> rows;
    if (!packed(v)) {
      require_host_rows(who, v.space, v.cols, v.ld);
      rows.reserve(static_cast<std::size_t>(v.size()));
      for (Index i = 0; i < v.rows; ++i)
        rows.insert(rows.end(), v.data + v.offset(i, 0), v.data + v.offset(i, 0) + v.cols);
    }
    copy_bytes(ctx, here.data, here.space, packed(v) ? v.data : rows.data(), v.space,
               bytes(v.size()));
    return copy<double, double>(ctx, here, there);
  }
  for (Index j = 0; j < v.cols; ++j) {
    copy_bytes(ctx, here.data, here.space, v.data + v.offset(0, j), v.space, bytes(v.rows));
    copy<double, double>(ctx, here, column(there, j));
  }
}

/// v = there, likewise; complete on return.
inline void deliver(Context& ctx, std::string const& who, In<double> there, Out<double> v) {
  if (v.size() == 0) return;
  if (v.space == ctx.space()) {
    copy<double, double>(ctx, there, v);
    return ctx.synchronize();
  }
  auto scope = ctx.arena().scope();
  auto const bytes = [](std::int64_t n) { return sizeof(double) * static_cast<std::size_t>(n); };
  Out<double> here = v.layout == Layout::row_major ? scope.vectors<double>(v.rows, v.cols)
                                                   : scope.vectors<double>(v.rows, 1);
  if (v.layout == Layout::row_major) {
    copy<double, double>(ctx, there, here);
    if (packed(v)) return copy_bytes(ctx, v.data, v.space, here.data, here.space, bytes(v.size()));
    require_host_rows(who, v.space, v.cols, v.ld);
    std::vector<double> rows(static_cast<std::size_t>(v.size()));
    copy_bytes(ctx, rows.data(), Space::host, here.data, here.space, bytes(v.size()));
    for (Index i = 0; i < v.rows; ++i)
      std::copy_n(rows.data() + std::int64_t{i} * v.cols, v.cols, v.data + v.offset(i, 0));
    return;
  }
  for (Index j = 0; j < v.cols; ++j) {
    copy<double, double>(ctx, column(there, j), here);
    copy_bytes(ctx, v.data + v.offset(0, j), v.space, here.data, here.space, bytes(v.rows));
  }
}

}  // namespace tcsolve
