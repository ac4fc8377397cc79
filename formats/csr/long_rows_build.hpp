// SPDX-License-Identifier: Apache-2.0
/// Long rows of CSR and their parts, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/formats/csr/long_rows.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::csr {

struct Extent {
  Index rows = 0, parts = 0;
  TCSOLVE_HD friend Extent operator+(Extent const& a, Extent const& b) {
    return {a.rows + b.rows, a.parts + b.parts};
  }
};

struct MeasureRow {
  PatternView a;
  Offset length;
  Extent* extents;  // (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const entries = i < a.rows ? a.offsets[i + 1] - a.offsets[i] : 0;
    bool const cut = entries > length;
    extents[i] = {cut ? 1 : 0, cut ? static_cast<Index>((entries + length - 1) / length) : 0};
  }
};

/// Of row i, if it is long; behind the last one the sums.
struct SetRow {
  std::int64_t rows;
  Extent const* before;  // (rows + 1)
  Index *row, *start;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Extent const here = before[i];
    if (i < rows && before[i + 1].rows == here.rows) return;
    if (i < rows) row[here.rows] = static_cast<Index>(i);
    start[here.rows] = here.parts;
  }
};

template <class On>
CsrLongRows long_rows(On& on, PatternView const& a, Offset length) {
  std::int64_t const n = std::int64_t{a.rows} + 1;
  auto* const extents = on.template take<Extent>(n);
  auto* const before = on.template take<Extent>(n);
  on.each(n, MeasureRow{a, length, extents});
  on.scan(extents, before, n, Plus{});
  Extent all;
  on.read(before + a.rows, &all, 1);
  CsrLongRows made{Array<Index>(on.space(), all.rows), Array<Index>(on.space(), all.rows + 1),
                   all.parts};
  on.each(n, SetRow{a.rows, before, made.row.data(), made.start.data()});
  return made;
}

}  // namespace tcsolve::csr
