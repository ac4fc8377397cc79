// SPDX-License-Identifier: Apache-2.0
/// SELL-32 by lines (kernels/lines.hpp): a row.
#pragma once

#include <tcsolve/formats/sell/sell.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(SellView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(SellView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(SellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = SellView<S>::C;
  SellSlice const slice = a.slices[line / C];
  Offset const lane = line % C;
  for (Offset j = 0; j < a.lengths[line]; ++j) {
    Offset const at = slice.indices + lane + j * C;
    entry(slice.wide != 0 ? a.columns[at] : slice.base + a.deltas[at],
          a.values[slice.values + lane + j * C]);
  }
  return {static_cast<Index>(line), -1};
}

}  // namespace tcsolve
