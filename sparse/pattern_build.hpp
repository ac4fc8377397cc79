// SPDX-License-Identifier: Apache-2.0
/// What the plans of this floor share when they make a pattern, on either backend
/// (kernels/convert.hpp).
#pragma once

#include <limits>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

/// The first place in [0, n) of ascending `sorted` that holds at least `key`; n: none does.
template <class N, class K>
TCSOLVE_HD N first_not_below(K const* sorted, N n, K key) {
  N low = 0;
  while (n > 0) {
    N const half = n / 2;
    if (sorted[low + half] < key)
      low += half + 1, n -= half + 1;
    else
      n = half;
  }
  return low;
}

/// The last place in [0, n), n > 0, of ascending `sorted` that holds at most `key`; 0: none does.
template <class N, class K>
TCSOLVE_HD N last_not_above(K const* sorted, N n, K key) {
  N low = 0;
  while (n > 1) {
    N const half = n / 2;
    low = sorted[low + half] <= key ? low + half : low;
    n -= half;
  }
  return low;
}

template <class T>
struct Copy {
  T const* from;
  T* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class O>
struct CopyOffsets {
  Offset const* from;
  O* to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = static_cast<O>(from[i]); }
};

/// A pattern with these offsets (rows + 1) in on.space(), whose columns are still to be written.
template <class On>
OwnedPattern with_offsets(On& on, Index rows, Index cols, Offset const* offsets) {
  OwnedPattern made;
  made.rows = rows, made.cols = cols, made.space = on.space();
  std::int64_t const n = std::int64_t{rows} + 1;
  on.read(offsets + rows, &made.entries, 1);
  auto const copy = [&](auto& to) {
    to = std::remove_reference_t<decltype(to)>(on.space(), static_cast<std::size_t>(n));
    on.each(n, CopyOffsets<std::remove_pointer_t<decltype(to.data())>>{offsets, to.data()});
  };
  if (made.entries <= std::numeric_limits<std::int32_t>::max())
    copy(made.narrow_offsets);
  else
    copy(made.wide_offsets);
  made.columns = Array<Index>(on.space(), static_cast<std::size_t>(made.entries));
  return made;
}

}  // namespace tcsolve::sparse
