// SPDX-License-Identifier: Apache-2.0
/// Diagonals by lines (kernels/lines.hpp): a row.
#pragma once

#include <tcsolve/formats/dia/dia.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(DiaView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(DiaView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(DiaView<S> const& a, std::int64_t line, F& entry) {
  Index const i = static_cast<Index>(line);
  for (Index k = 0; k < a.count; ++k) {
    DiaDiagonal const d = a.diagonals[k];
    S const value = a.values[d.start + (i < d.last ? i : d.last)];
    if (!is_padding(value)) entry(i + d.offset, value);
  }
  return {i, -1};
}

}  // namespace tcsolve
