// SPDX-License-Identifier: Apache-2.0
/// CSELL by lines (kernels/lines.hpp): rows, and pieces of long ones.
#pragma once

#include <tcsolve/formats/csell/csell.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

template <class S>
TCSOLVE_HD std::int64_t lines(CsellView<S> const& a) {
  return a.lines;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsellView<S> const& a) {
  return a.parts;
}
template <class I, class S, class F>
TCSOLVE_HD void walk_strip(CsellView<S> const& a, CsellStrip const& strip, int lane, Index begin,
                           Index end, F& entry) {
  S const* const values = a.values + Offset{strip.first} * CsellView<S>::C;
  I const* const numbers = reinterpret_cast<I const*>(a.numbers + Offset{strip.numbers} * 64);
  for (Index j = begin; j < end; ++j) {
    Offset const at = a.place(j, lane);
    I const number = numbers[at];
    if (number != csell_padding<I>)
      entry(a.bases[strip.first + j] + static_cast<Index>(number), values[at]);
  }
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsellView<S> const& a, std::int64_t line, F& entry) {
  constexpr int C = CsellView<S>::C;
  Index const slice = static_cast<Index>(line / C);
  int const lane = static_cast<int>(line % C);
  CsellStrip const strip = a.strips[slice / a.depth];
  Index const begin = slice % a.depth == 0 ? 0 : a.ends[slice - 1], end = a.ends[slice];
  if (strip.bytes == 1)
    walk_strip<std::uint8_t>(a, strip, lane, begin, end, entry);
  else if (strip.bytes == 2)
    walk_strip<std::uint16_t>(a, strip, lane, begin, end, entry);
  else
    walk_strip<std::int32_t>(a, strip, lane, begin, end, entry);
  std::int32_t const row = a.order == nullptr ? static_cast<Index>(line) : a.order[line];
  if (row < 0) return {-1, ~row};
  return {row, -1};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(CsellView<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(CsellView<S> const& a, std::int64_t k, F& part) {
  for (Index p = a.long_start[k]; p < a.long_start[k + 1]; ++p) part(p);
  return a.long_row[k];
}

}  // namespace tcsolve
