// SPDX-License-Identifier: Apache-2.0
/// BitTCF by lines (kernels/lines.hpp): a row, its side entries first.
#pragma once

#include <tcsolve/formats/bitmap.hpp>
#include <tcsolve/formats/bittcf/bittcf.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(BittcfView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(BittcfView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(BittcfView<S> const& a, std::int64_t i, F& entry) {
  if (a.side_start != nullptr)
    for (std::uint32_t e = a.side_start[i]; e < a.side_start[i + 1]; ++e)
      entry(a.side_columns[e], a.side_values[e]);
  for (std::uint32_t b = a.start[i / 8]; b < a.start[i / 8 + 1]; ++b) {
    BitRow const row = row_of(a.bitmaps[b], a.offsets[b], static_cast<int>(i % 8));
    S const* value = a.values + row.first;
    for (int c = 0; c < 8; ++c)
      if ((row.bits >> c & 1u) != 0) entry(a.column[8 * std::size_t(b) + c], *value++);
  }
  return {static_cast<Index>(i), -1};
}

}  // namespace tcsolve
