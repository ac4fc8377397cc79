// SPDX-License-Identifier: Apache-2.0
/// A column of a block, for operators that work on one at a time.
#pragma once

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Column j of v, its entries v.ld apart where v has its rows together.
template <class T>
MultiView<T> column(MultiView<T> const& v, Index j) {
  std::int64_t const stride = v.layout == Layout::row_major ? v.ld : 1;
  return {v.data + v.offset(0, j), v.rows, 1, stride, Layout::row_major, v.space};
}

}  // namespace tcsolve
