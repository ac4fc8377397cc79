// SPDX-License-Identifier: Apache-2.0
/// ELL by lines (kernels/lines.hpp): a row. With these the exact residual has the format.
#pragma once

#include <tcsolve/kernels/lines.hpp>
#include <tcsolve/kernels/padding.hpp>

#include "ell/ell.hpp"

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(EllView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(EllView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(EllView<S> const& a, std::int64_t i, F& entry) {
  Offset at = i;
  for (Index j = 0; j < a.width; ++j, at += a.rows)
    if (S const v = a.values[at]; !is_padding(v)) entry(a.columns[at], v);
  return {static_cast<Index>(i), -1};
}

}  // namespace tcsolve
