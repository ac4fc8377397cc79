// SPDX-License-Identifier: Apache-2.0
/// Links of overlaps, blocks of parts and the sum of their inverses (precond/schwarz/
/// part_inverses.hpp), written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/graph/reorder/adjacency_build.hpp>
#include <tcsolve/precond/schwarz/part_inverses.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::schwarzes {

// ---- links ----

struct TakesPart {
  PatternView g;
  Index most;
  std::uint8_t* takes;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const first = g.offsets[i], count = g.offsets[i + 1] - first;
    Offset const at = sparse::first_not_below(g.columns + first, count, static_cast<Index>(i));
    bool const itself = at < count && g.columns[first + at] == i;
    takes[i] = count - itself <= most;
  }
};

/// Row i of the links: itself, and the neighbours that take part where it does. Counted where
/// `columns` is null.
struct Link {
  PatternView g;
  std::uint8_t const* takes;
  Offset* length;  // (rows + 1)
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (i == g.rows) {
      length[i] = 0;
      return;
    }
    Index* const to = columns != nullptr ? columns + offsets[i] : nullptr;
    Offset count = 0;
    auto const add = [&](Index j) {
      if (to != nullptr) to[count] = j;
      ++count;
    };
    bool own = false;
    if (takes[i] != 0)
      for (Offset k = g.offsets[i]; k < g.offsets[i + 1]; ++k) {
        Index const j = g.columns[k];
        if (!own && j >= i) add(static_cast<Index>(i)), own = true;
        if (j != i && takes[j] != 0) add(j);
      }
    if (!own) add(static_cast<Index>(i));
    if (to == nullptr) length[i] = count;
  }
};

template <class On>
sparse::OwnedPattern links(On& on, PatternView g, Index most, Offset& longest) {
  ordering::symmetrize(on, g, 0);
  std::int64_t const n = std::int64_t{g.rows} + 1;
  auto* const takes = on.template take<std::uint8_t>(g.rows);
  auto* const length = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each(g.rows, TakesPart{g, most, takes});
  on.each(n, Link{g, takes, length, {}, nullptr});
  on.scan(length, offsets, n, Plus{});
  sparse::OwnedPattern made = sparse::with_offsets(on, g.rows, g.cols, offsets);
  on.each(g.rows, Link{g, takes, nullptr, made.offsets(), made.columns.data()});
  longest = ordering::longest(on, made.offsets(), made.rows);
  return made;
}

// ---- blocks ----

/// The place of row j among those of part p, -1 where it is none of them.
TCSOLVE_HD Index place_in(PatternView const& rows, Index p, Index j) {
  Offset const first = rows.offsets[p], count = rows.offsets[std::int64_t{p} + 1] - first;
  Offset const at = sparse::first_not_below(rows.columns + first, count, j);
  return at < count && rows.columns[first + at] == j ? static_cast<Index>(at) : -1;
}

/// The k-th row of the parts, a row of its block: entries of A in the part's columns.
struct GatherRow {
  CsrView<double> a;
  PartBlocks b;
  double* values;  // zeros

  TCSOLVE_HD Index part_of(Offset row) const {
    Index low = b.begin, count = b.end - b.begin;
    while (count > 1) {
      Index const half = count / 2;
      if (b.rows.offsets[low + half] <= row) low += half;
      count -= half;
    }
    return low;
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    Offset const at = b.first_row + k;
    Index const p = part_of(at);
    Offset const first = b.rows.offsets[p], m = b.rows.offsets[std::int64_t{p} + 1] - first;
    Index const i = b.rows.columns[at];
    double* const row = values + (b.starts[p] - b.starts[b.begin]) + (at - first) * m;
    Offset const end = a.offsets[std::int64_t{i} + 1];
    warp.each([&](int lane) {
      for (Offset e = a.offsets[i] + lane; e < end; e += 32)
        if (Index const c = place_in(b.rows, p, a.columns[e]); c >= 0) row[c] = a.values[e];
    });
  }
};

/// Row i of the sum: to each of its entries what the parts add, in ascending order.
struct AddInverses {
  PatternView m;
  PartBlocks b;
  double const* values;
  double* sums;
  std::int64_t first_row;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    std::int64_t const i = first_row + k;
    Offset const begin = m.offsets[i], end = m.offsets[i + 1];
    for (Offset t = b.takers.offsets[i]; t < b.takers.offsets[i + 1]; ++t) {
      Index const p = b.takers.columns[t];
      if (p < b.begin || p >= b.end) continue;
      Index const r = place_in(b.rows, p, static_cast<Index>(i));
      Offset const size = b.rows.offsets[std::int64_t{p} + 1] - b.rows.offsets[p];
      double const* const row = values + (b.starts[p] - b.starts[b.begin]) + r * size;
      Index const* const columns = b.rows.columns + b.rows.offsets[p];
      // A lane has the same stretch of the row in each turn; both lists ascend.
      warp.each([&](int lane) {
        Offset const stretch = (end - begin + 31) / 32, first = begin + lane * stretch;
        if (first >= end) return;
        Offset const last = first + stretch < end ? first + stretch : end;
        Offset c = sparse::first_not_below(columns, size, m.columns[first]);
        for (Offset e = first; e < last && c < size;) {
          Index const j = m.columns[e], of_part = columns[c];
          if (j == of_part) sums[e] += row[c];
          e += j <= of_part, c += of_part <= j;
        }
      });
    }
  }
};

template <class On>
void gather(On& on, CsrView<double> const& a, PartBlocks const& b, double* values) {
  on.clear(values, b.values);
  on.each_warp(b.part_rows, GatherRow{a, b, values});
}

/// A stretch of rows after the other on the host, for which some of them are work.
template <class On>
void add(On& on, CancelFlag cancel, PatternView const& m, PartBlocks const& b, double const* values,
         double* sums) {
  if (b.begin == 0) on.clear(sums, m.entries);
  std::int64_t const rows = m.rows, stretch = on.space() == Space::host ? 1024 : rows;
  for (std::int64_t first = 0; first < rows; first += stretch) {
    cancel.check();
    on.each_warp(first + stretch < rows ? stretch : rows - first,
                 AddInverses{m, b, values, sums, first});
  }
}

}  // namespace tcsolve::schwarzes
