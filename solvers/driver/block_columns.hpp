// SPDX-License-Identifier: Apache-2.0
/// The columns of a caller's block and those that a block method works on: row-major, in the
/// Context's space.
#pragma once

#include <string>

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

/// there = v, from any space. A v of another space than the Context's is packed, or its columns are
/// of adjacent elements: what column-major blocks are. Else throws ShapeError, naming `who`.
inline void fetch(Context& ctx, std::string const& who, In<double> v, Out<double> there) {
  if (v.size() == 0) return;
  if (v.space == ctx.space()) return copy<double, double>(ctx, v, there);
  auto scope = ctx.arena().scope();
  auto const bytes = [](std::int64_t n) { return sizeof(double) * static_cast<std::size_t>(n); };
  Out<double> here = v.layout == Layout::row_major ? scope.vectors<double>(v.rows, v.cols)
                                                   : scope.vectors<double>(v.rows, 1);
  if (v.layout == Layout::row_major) {
    if (!packed(v))
      throw ShapeError(cat(who, ": a row-major block with ", v.cols, " columns and rows ", v.ld,
                           " apart must lie in the Context's space"));
    copy_bytes(ctx, here.data, here.space, v.data, v.space, bytes(v.size()));
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
    if (!packed(v))
      throw ShapeError(cat(who, ": a row-major block with ", v.cols, " columns and rows ", v.ld,
                           " apart must lie in the Context's space"));
    copy<double, double>(ctx, there, here);
    return copy_bytes(ctx, v.data, v.space, here.data, here.space, bytes(v.size()));
  }
  for (Index j = 0; j < v.cols; ++j) {
    copy<double, double>(ctx, column(there, j), here);
    copy_bytes(ctx, v.data + v.offset(0, j), v.space, here.data, here.space, bytes(v.rows));
  }
}

}  // namespace tcsolve
