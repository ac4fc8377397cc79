// SPDX-License-Identifier: Apache-2.0
/// Bitmap blocks by lines (kernels/lines.hpp): a row, its side entries first.
#pragma once

#include <tcsolve/formats/bitblock/bitblock.hpp>
#include <tcsolve/formats/bitmap.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

TCSOLVE_HD BitRow row_of(BitBlock const& block, int r) {
  return row_of(block.bitmap, block.offset, r);
}

template <class S>
TCSOLVE_HD std::int64_t lines(BitblockView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(BitblockView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(BitblockView<S> const& a, std::int64_t i, F& entry) {
  if (a.side_start != nullptr)
    for (std::uint32_t e = a.side_start[i]; e < a.side_start[i + 1]; ++e)
      entry(a.side_columns[e], a.side_values[e]);
  for (std::uint32_t b = a.start[i / 8]; b < a.start[i / 8 + 1]; ++b) {
    BitBlock const block = a.blocks[b];
    BitRow const row = row_of(block, static_cast<int>(i % 8));
    S const* value = a.values + row.first;
    for (int c = 0; c < 8; ++c)
      if ((row.bits >> c & 1u) != 0) entry(8 * block.column + c, *value++);
  }
  return {static_cast<Index>(i), -1};
}

}  // namespace tcsolve
