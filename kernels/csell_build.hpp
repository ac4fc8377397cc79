// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32-sigma with compressed columns, written once for both backends
/// (kernels/convert.hpp). A line is a row, or a piece of a long one; where neighbouring lines
/// differ in length, lines are sorted within windows.
#pragma once

#include <algorithm>
#include <limits>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/csell.hpp>

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
    Offset const begin = a.offsets[i] + (first == nullptr ? 0 : Offset{l - first[i]} * most);
    Offset const end = a.offsets[i + 1];
    return {begin, first != nullptr && begin + most < end ? begin + most : end};
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

/// Sorting keys: by window, then longest first.
template <class S>
struct SetKeys {
  Lines<S> lines;
  Index window;
  std::uint32_t* key;
  Index* line;
  TCSOLVE_HD void operator()(std::int64_t l) const {
    auto const e = lines.of(l);
    key[l] = static_cast<std::uint32_t>((l / window) * (lines.most + 1) + lines.most -
                                        (e.end - e.begin));
    line[l] = static_cast<Index>(l);
  }
};

/// The lines of slice s, walked side by side by their next columns.
template <class S>
struct Walk {
  static constexpr int C = CsellView<S>::C;
  static constexpr Index none = std::numeric_limits<Index>::max();
  Index const* columns;  ///< of the first of its lines on
  Index at[C], end[C], next[C];

  TCSOLVE_HD Walk(Lines<S> const& lines, std::int64_t s) {
    Offset origin = lines.of(s * C).begin;
    for (int l = 1; l < C; ++l) {
      Offset const begin = lines.of(s * C + l).begin;
      if (s * C + l < lines.count && begin < origin) origin = begin;
    }
    columns = lines.a.columns + origin;
    for (int l = 0; l < C; ++l) {
      auto const e = lines.of(s * C + l);
      bool const here = e.begin < e.end;
      at[l] = here ? static_cast<Index>(e.begin - origin) : 0;
      end[l] = here ? static_cast<Index>(e.end - origin) : 0;
      next[l] = here ? columns[at[l]] : none;
    }
  }
  /// The least next column; `none` when all entries are taken.
  TCSOLVE_HD Index least() const {
    Index low = none;
    for (int l = 0; l < C; ++l) low = next[l] < low ? next[l] : low;
    return low;
  }
  TCSOLVE_HD Index most() const {
    Index high = -1;
    for (int l = 0; l < C; ++l) high = next[l] != none && next[l] > high ? next[l] : high;
    return high;
  }
  /// Each line goes on by one entry if its next column is at most `upto`.
  TCSOLVE_HD void take(Index upto) {
    for (int l = 0; l < C; ++l)
      if (next[l] <= upto && next[l] != none) {
        ++at[l];
        next[l] = at[l] < end[l] ? columns[at[l]] : none;
      }
  }
};

/// The last column that a step of this base reaches with 8 bits.
TCSOLVE_HD Index reach(Index base) {
  constexpr Index last = std::numeric_limits<Index>::max() - 1, span = 254;
  return base > last - span ? last : base + span;
}

/// Positions, index bytes and bases of slices, for scans.
struct Extent {
  Offset values = 0, indices = 0;
  std::int32_t steps = 0;
  TCSOLVE_HD Extent operator+(Extent const& b) const {
    return {values + b.values, indices + b.indices, steps + b.steps};
  }
};

/// Width and bytes of a column number of slice s; one more element closes the scan.
template <class S>
struct MeasureSlice {
  Lines<S> lines;
  std::int64_t slices;
  CsellSlice* slice;
  Extent* extent;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    constexpr int C = CsellView<S>::C;
    if (s == slices) {
      extent[s] = {};
      return;
    }
    Index width = 0;
    for (int l = 0; l < C; ++l) {
      auto const e = lines.of(s * C + l);
      auto const length = static_cast<Index>(e.end - e.begin);
      width = length > width ? length : width;
    }
    // Steps in which every line is at its j-th entry: how far apart are these?
    Index spread = 0;
    for (Walk<S> walk(lines, s);;) {
      Index const low = walk.least();
      if (low == Walk<S>::none) break;
      Index const high = walk.most();
      spread = high - low > spread ? high - low : spread;
      walk.take(Walk<S>::none - 1);
    }
    std::int32_t bytes = spread < 65535 ? 2 : 4;
    // Steps of columns that 8 bits reach: as many, where rows are alike, and never worth more than
    // the bytes that they save.
    Index const worth = static_cast<Index>(
        std::int64_t{width} * (8 * sizeof(S) + (bytes == 2 ? 17 : 32)) / (8 * sizeof(S) + 9));
    Index steps = 0;
    for (Walk<S> walk(lines, s); steps <= worth; ++steps) {
      Index const low = walk.least();
      if (low == Walk<S>::none) break;
      walk.take(reach(low));
    }
    if (steps <= worth) bytes = 1, width = steps;
    slice[s] = {0, 0, 0, width, bytes, 0};
    extent[s] = {Offset{width} * C, Offset{width} * C * bytes, bytes < 4 ? (width + 3) / 4 * 4 : 0};
  }
};

/// Starts and bases of slice s: the least column of each step.
template <class S>
struct SetBases {
  Lines<S> lines;
  Extent const* start;
  CsellSlice* slice;
  std::int32_t* bases;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    CsellSlice& here = slice[s];
    here.values = start[s].values, here.indices = start[s].indices, here.step = start[s].steps;
    if (here.bytes == 4) return;
    std::int32_t* const to = bases + here.step;
    Walk<S> walk(lines, s);
    Index j = 0;
    for (; j < here.width; ++j) {
      to[j] = walk.least();
      walk.take(here.bytes == 1 ? reach(to[j]) : Walk<S>::none - 1);
    }
    for (; j % 4 != 0; ++j) to[j] = 0;
  }
};

/// Line p writes its lane: in steps of 8 bits the entries that the bases reach, which is what
/// SetBases took; else its j-th entry in step j.
template <class S, bool values_only>
struct FillLine {
  Lines<S> lines;
  CsellSlice const* slice;
  std::int32_t const* bases;
  S* values;
  std::uint8_t* indices;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    using View = CsellView<S>;
    CsellSlice const here = slice[p / View::C];
    int const lane = static_cast<int>(p % View::C);
    auto const e = lines.of(p);
    Offset k = e.begin;
    for (Index j = 0; j < here.width; ++j) {
      Index const base = here.bytes < 4 ? bases[here.step + j] : 0;
      bool const taken = k < e.end && (here.bytes > 1 || lines.a.columns[k] <= reach(base));
      values[here.values + View::place(here.width, View::packet, j, lane)] =
          taken ? lines.a.values[k] : S(0.0f);
      if constexpr (!values_only) {
        Offset const to = View::place(here.width, View::quad, j, lane);
        put(here.bytes, indices + here.indices, to, taken ? lines.a.columns[k] - base : -1);
      }
      k += taken;
    }
  }

 private:
  /// -1 is the hole of every type.
  TCSOLVE_HD static void put(std::int32_t bytes, std::uint8_t* to, Offset at, Index number) {
    if (bytes == 1)
      to[at] = static_cast<std::uint8_t>(number);
    else if (bytes == 2)
      reinterpret_cast<std::uint16_t*>(to)[at] = static_cast<std::uint16_t>(number);
    else
      reinterpret_cast<std::int32_t*>(to)[at] = number;
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

template <class S>
void connect(CsellArrays<S>& m) {
  CsellView<S>& v = m.view;
  v.slices = m.slices.data(), v.bases = m.bases.data();
  v.indices = m.indices.data(), v.values = m.values.data();
  v.order = m.order.data();
  v.long_row = m.long_row.data(), v.long_start = m.long_start.data();
}

/// The lines of the finished matrix.
template <class S>
Lines<S> lines_of(CsellArrays<S> const& m, CsrView<S> const& a) {
  Lines<S> lines{a, m.view.lines, m.most};
  if (m.view.parts > 0) lines.first = m.first.data(), lines.row = m.row.data();
  if (m.at.size() > 0) lines.at = m.at.data();
  return lines;
}

template <class On, class S>
CsellArrays<S> build(On& on, CsrView<S> const& a, CsellTuning const& tuning) {
  constexpr int C = CsellView<S>::C;
  CsellArrays<S> m;
  CsellView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  m.most = tuning.max_length;

  std::size_t const rows = std::size_t(a.rows) + 1;
  auto* counts = on.template take<Index>(rows);
  auto* long_lines = on.template take<Index>(rows);
  auto* longs = on.template take<Index>(rows);
  m.first = Array<Index>(on.space(), rows);
  on.each(rows, CountLines<S>{a, m.most, counts, long_lines, longs});
  on.scan(counts, m.first.data(), rows, Plus{});
  auto* parts = on.template take<Index>(rows);
  auto* long_rows = on.template take<Index>(rows);
  on.scan(long_lines, parts, rows, Plus{});
  on.scan(longs, long_rows, rows, Plus{});
  on.read(m.first.data() + a.rows, &v.lines, 1);
  on.read(parts + a.rows, &v.parts, 1);
  on.read(long_rows + a.rows, &v.long_rows, 1);
  if (v.parts > 0) {
    m.row = Array<Index>(on.space(), v.lines);
    on.each(a.rows, NameLines<S>{m.first.data(), a.rows, m.row.data()});
    m.long_row = Array<Index>(on.space(), v.long_rows);
    m.long_start = Array<Index>(on.space(), std::size_t(v.long_rows) + 1);
    on.each(rows, SetLong{long_rows, parts, a.rows, m.long_row.data(), m.long_start.data()});
  } else {
    m.first = Array<Index>();
  }

  std::int64_t const slices = (std::int64_t{v.lines} + C - 1) / C;
  m.slices = Array<CsellSlice>(on.space(), slices);
  auto* extent = on.template take<Extent>(std::size_t(slices) + 1);
  auto* start = on.template take<Extent>(std::size_t(slices) + 1);
  Extent total;
  auto measure = [&] {
    on.each(slices + 1, MeasureSlice<S>{lines_of(m, a), slices, m.slices.data(), extent});
    on.scan(extent, start, slices + 1, Plus{});
    on.read(start + slices, &total, 1);
  };
  measure();
  if (double(total.values) > (1 + tuning.padding) * double(a.entries) + C * C) {
    std::int64_t const windows = (std::int64_t{v.lines} + tuning.window - 1) / tuning.window;
    if (windows * (m.most + 1) > std::numeric_limits<std::uint32_t>::max())
      throw SizeError(cat("csell: ", windows, " windows; sorting keys have 32 bits: take a larger ",
                          "window than ", tuning.window));
    m.at = Array<Index>(on.space(), v.lines);
    auto* key = on.template take<std::uint32_t>(v.lines);
    Lines<S> unsorted = lines_of(m, a);
    unsorted.at = nullptr;
    on.each(v.lines, SetKeys<S>{unsorted, tuning.window, key, m.at.data()});
    on.sort(key, m.at.data(), v.lines, static_cast<std::uint32_t>(windows * (m.most + 1)));
    measure();
  }
  if (v.parts > 0 || m.at.size() > 0) {
    m.order = Array<std::int32_t>(on.space(), v.lines);
    on.each(v.lines, SetOrder<S>{lines_of(m, a), parts, m.order.data()});
  }

  m.bases = Array<std::int32_t>(on.space(), total.steps);
  m.indices = Array<std::uint8_t>(on.space(), total.indices);
  m.values = Array<S>(on.space(), total.values);
  on.each(slices, SetBases<S>{lines_of(m, a), start, m.slices.data(), m.bases.data()});
  on.each(slices * C, FillLine<S, false>{lines_of(m, a), m.slices.data(), m.bases.data(),
                                         m.values.data(), m.indices.data()});
  connect(m);
  return m;
}

/// The same pattern with new values.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, CsellArrays<S>& m) {
  on.each(
      std::int64_t(m.slices.size()) * CsellView<S>::C,
      FillLine<S, true>{lines_of(m, a), m.slices.data(), m.bases.data(), m.values.data(), nullptr});
}

}  // namespace tcsolve::csell
