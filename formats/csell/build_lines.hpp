// SPDX-License-Identifier: Apache-2.0
/// What the lines of a csell matrix are: its rows, long ones in pieces, in the order in which
/// slices take them; for host and device (kernels/convert.hpp).
#pragma once

#include <algorithm>

#include <tcsolve/formats/csell/csell.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::csell {

/// counts[i]: lines of row i; long_lines[i]: the same, of long rows alone; longs[i]: 1 for these.
/// One more element closes each scan.
template <class S>
struct CountLines {
  CsrView<S> a;
  Index most;
  Index *counts, *long_lines, *longs;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const length = i < a.rows ? a.offsets[i + 1] - a.offsets[i] : 0;
    Index const lines = length <= most ? 1 : static_cast<Index>((length + most - 1) / most);
    counts[i] = i < a.rows ? lines : 0;
    long_lines[i] = lines > 1 ? lines : 0;
    longs[i] = lines > 1;
  }
};

/// What the lines are: line l of the matrix, or, once sorted, line at[p] in place p.
template <class S>
struct Lines {
  CsrView<S> a;
  Index count, most;
  Index const* first = nullptr;  ///< (rows + 1) first line of each row; null: line i is row i
  Index const* row = nullptr;    ///< (lines) row of each line, where `first` is given
  Index const* at = nullptr;     ///< (lines) the line in each place; null: in order

  struct Entries {
    Offset begin, end;
  };
  TCSOLVE_HD Index line(std::int64_t place) const {
    return at == nullptr ? static_cast<Index>(place) : at[place];
  }
  TCSOLVE_HD Index row_of(Index l) const { return row == nullptr ? l : row[l]; }
  TCSOLVE_HD Entries of(std::int64_t place) const {
    if (place >= count) return {0, 0};
    Index const l = line(place), i = row_of(l);
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    if (first == nullptr) return {begin, end};
    // Pieces of a row are as long as each other, but for the last.
    Offset const pieces = first[i + 1] - first[i];
    Offset const length = (end - begin + pieces - 1) / pieces;
    Offset const from = begin + (l - first[i]) * length;
    return {from < end ? from : end, from + length < end ? from + length : end};
  }
};

template <class S>
struct NameLines {
  Index const* first;
  Index rows;
  Index* row;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Index l = first[i]; l < first[i + 1]; ++l) row[l] = static_cast<Index>(i);
  }
};

/// Sorting keys: by window; the first pieces of its rows, the second ones, ... side by side, since
/// their columns are near each other; then longest first.
template <class S>
struct SetKeys {
  static constexpr Index pieces = 16;  ///< later pieces are sorted as one
  Lines<S> lines;
  Index window;
  std::uint32_t* key;
  Index* line;
  TCSOLVE_HD void operator()(std::int64_t l) const {
    auto const e = lines.of(l);
    Index piece = 0;
    if (lines.first != nullptr) piece = static_cast<Index>(l) - lines.first[lines.row_of(l)];
    if (piece >= pieces) piece = pieces - 1;
    key[l] = static_cast<std::uint32_t>(((l / window) * pieces + piece) * (lines.most + 1) +
                                        lines.most - (e.end - e.begin));
    line[l] = static_cast<Index>(l);
  }
};

/// order[p]: the row of the line in place p, or ~ its part. `parts` counts those before each row.
template <class S>
struct SetOrder {
  Lines<S> lines;
  Index const* parts;
  std::int32_t* order;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    Index const l = lines.line(p), i = lines.row_of(l);
    bool const piece = lines.first != nullptr && lines.first[i + 1] - lines.first[i] > 1;
    order[p] = piece ? ~(parts[i] + l - lines.first[i]) : i;
  }
};
/// Row i among the long ones; element `rows` closes the list.
struct SetLong {
  Index const *longs, *parts;  ///< before each row
  Index rows;
  Index *long_row, *long_start;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const closes = i == rows;
    if (!closes && longs[i + 1] == longs[i]) return;
    long_start[longs[i]] = parts[i];
    if (!closes) long_row[longs[i]] = static_cast<Index>(i);
  }
};

/// The lines of the finished matrix.
template <class S>
Lines<S> lines_of(CsellArrays<S> const& m, CsrView<S> const& a) {
  Lines<S> lines{a, m.view.lines, m.most};
  if (m.view.parts > 0) lines.first = m.first.data(), lines.row = m.row.data();
  if (m.at.size() > 0) lines.at = m.at.data();
  return lines;
}

/// A line is one lane's work from end to end: where there are few entries, short lines keep more
/// lanes busy. The same for every device, since it is part of what rounding depends on.
inline Index choose_length(Offset entries) {
  constexpr Offset lanes = 65536;
  return static_cast<Index>(std::clamp<Offset>((entries / lanes + 7) / 8 * 8, 32, 256));
}

}  // namespace tcsolve::csell
