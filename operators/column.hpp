// SPDX-License-Identifier: Apache-2.0
/// A column of a block, for operators that work on one at a time, and some of its rows.
#pragma once

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Column j of v, its entries v.ld apart where v has its rows together.
template <class T>
MultiView<T> column(MultiView<T> const& v, Index j) {
  std::int64_t const stride = v.layout == Layout::row_major ? v.ld : 1;
  return {v.data + v.offset(0, j), v.rows, 1, stride, Layout::row_major, v.space};
}

/// Rows [first, first + count) of v.
template <class T>
MultiView<T> rows_of_block(MultiView<T> v, Index first, Index count) {
  v.data += v.offset(first, 0);
  v.rows = count;
  return v;
}

}  // namespace tcsolve
