// SPDX-License-Identifier: Apache-2.0
/// CSR by lines (kernels/lines.hpp): a row, or the parts of a long one.
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/lines.hpp>

namespace tcsolve {

/// CSR whose long rows are cut, so that one of them keeps no thread for long.
template <class S>
struct CsrParts {
  static constexpr Offset length = 256;  ///< entries of a part; rows of more are cut
  CsrView<S> a;
  Index long_rows = 0;
  Index count = 0;                    ///< parts
  Index const* long_row = nullptr;    ///< (long_rows)
  Index const* long_start = nullptr;  ///< (long_rows + 1) first part of each
};

/// The entries of a part, and which of the long rows it is of.
struct CsrPart {
  Index of;
  Offset begin, end;
};
template <class S>
TCSOLVE_HD CsrPart part_of(CsrParts<S> const& a, Index part) {
  Index low = 0, high = a.long_rows;  // the row is the last that begins at or before the part
  while (high - low > 1) {
    Index const middle = low + (high - low) / 2;
    (a.long_start[middle] <= part ? low : high) = middle;
  }
  Index const row = a.long_row[low];
  Offset const begin = a.a.offsets[row] + (part - a.long_start[low]) * a.length;
  Offset const end = a.a.offsets[row + 1];
  return {low, begin, begin + a.length < end ? begin + a.length : end};
}

template <class S, class F>
TCSOLVE_HD void walk_entries(CsrView<S> const& a, Offset begin, Offset end, F& entry) {
  for (Offset e = begin; e < end; ++e) entry(a.columns[e], a.values[e]);
}

template <class S>
TCSOLVE_HD std::int64_t lines(CsrView<S> const& a) {
  return a.rows;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsrView<S> const&) {
  return 0;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsrView<S> const& a, std::int64_t line, F& entry) {
  walk_entries(a, a.offsets[line], a.offsets[line + 1], entry);
  return {static_cast<Index>(line), -1};
}

template <class S>
TCSOLVE_HD std::int64_t lines(CsrParts<S> const& a) {
  return std::int64_t{a.a.rows} + a.count;
}
template <class S>
TCSOLVE_HD std::int64_t parts(CsrParts<S> const& a) {
  return a.count;
}
template <class S, class F>
TCSOLVE_HD LineOwner walk(CsrParts<S> const& a, std::int64_t line, F& entry) {
  if (line < a.a.rows) {
    Offset const begin = a.a.offsets[line], end = a.a.offsets[line + 1];
    if (end - begin > a.length) return {};  // by its parts
    walk_entries(a.a, begin, end, entry);
    return {static_cast<Index>(line), -1};
  }
  Index const part = static_cast<Index>(line - a.a.rows);
  CsrPart const here = part_of(a, part);
  walk_entries(a.a, here.begin, here.end, entry);
  return {-1, part};
}
template <class S>
TCSOLVE_HD std::int64_t rows_to_join(CsrParts<S> const& a) {
  return a.long_rows;
}
template <class S, class F>
TCSOLVE_HD Index join(CsrParts<S> const& a, std::int64_t k, F& part) {
  for (Index p = a.long_start[k]; p < a.long_start[k + 1]; ++p) part(p);
  return a.long_row[k];
}

}  // namespace tcsolve
