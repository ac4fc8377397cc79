// SPDX-License-Identifier: Apache-2.0
/// CSR to DASP, written once for both backends (kernels/convert.hpp says what a backend offers):
/// sort the rows by category and length, measure the units, scan, fill. The host and the device
/// make identical arrays.
#pragma once

#include <algorithm>
#include <limits>

#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve::dasp {

/// Sorting keys in the order of DaspView::order: 0 long, then medium rows by decreasing length,
/// then rows of 4, 3, 2, 1 and 0 entries.
struct Keys {
  Index max_length;
  TCSOLVE_HD std::uint32_t of(Offset length) const {
    if (length > max_length) return 0;
    if (length > 4) return static_cast<std::uint32_t>(max_length - length + 1);
    return static_cast<std::uint32_t>(max_length - 3 + (4 - length));
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(max_length + 2); }
};

template <class S>
struct SetKeys {
  CsrView<S> a;
  Keys keys;
  std::uint32_t* key;
  Index* row;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    key[i] = keys.of(a.offsets[i + 1] - a.offsets[i]);
    row[i] = static_cast<Index>(i);
  }
};

/// bounds[c]: rows before category c: medium, 4, 3, 2, 1, 0 entries.
struct SetBounds {
  Index rows;
  Keys keys;
  std::uint32_t const* key;
  Index* bounds;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    std::uint32_t wanted = c == 0 ? 1 : keys.of(5 - c);
    Index low = 0, high = rows;
    while (low < high) {
      Index middle = low + (high - low) / 2;
      if (key[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    bounds[c] = low;
  }
};

/// counts[i]: units of long row i; one more element closes the scan.
template <class S>
struct CountLong {
  CsrView<S> a;
  DaspView<S> d;
  Index slots;  ///< of a unit
  Index* counts;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset length = 0;
    if (i < d.long_rows) length = a.offsets[d.order[i] + 1] - a.offsets[d.order[i]];
    counts[i] = static_cast<Index>((length + slots - 1) / slots);
  }
};

/// The part of the matrix that a unit holds: of long row `row`, its entries from `begin` on.
template <class S>
struct Part {
  Index row;
  Offset begin, end;
};

template <class S>
struct Reader {
  CsrView<S> a;
  DaspView<S> d;
  double threshold;
  Index slots;  ///< of a long unit

  TCSOLVE_HD Offset length(Index row) const { return a.offsets[row + 1] - a.offsets[row]; }
  /// The long row of unit u: the last one that starts at or before it.
  TCSOLVE_HD Index long_row(Index u) const {
    Index low = 0, high = d.long_rows - 1;
    while (low < high) {
      Index middle = low + (high - low + 1) / 2;
      if (d.long_start[middle] <= u)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  TCSOLVE_HD Part<S> long_part(Index u) const {
    Index i = long_row(u), row = d.order[i];
    Offset begin = a.offsets[row] + Offset{u - d.long_start[i]} * slots, end = a.offsets[row + 1];
    return {row, begin, begin + slots < end ? begin + slots : end};
  }
  /// Rows of medium unit m.
  TCSOLVE_HD int medium_lines(Index m) const {
    Index left = d.medium_rows - m * d.lines;
    return left < d.lines ? left : d.lines;
  }
  TCSOLVE_HD Index medium_row(Index m, int r) const {
    return d.order[d.first_medium() + m * d.lines + r];
  }
  /// Blocks of medium unit m: rows come by decreasing length, so blocks are ever less filled.
  TCSOLVE_HD Index medium_blocks(Index m) const {
    int here = medium_lines(m);
    for (Index b = 0;; ++b) {
      Offset filled = 0;
      for (int r = 0; r < here; ++r) {
        Offset left = length(medium_row(m, r)) - Offset{b} * d.slots;
        filled += left < 0 ? 0 : left < d.slots ? left : d.slots;
      }
      if (filled == 0 || filled < threshold * (here * d.slots)) return b;
    }
  }
};

/// First column of each long unit, what long_order is sorted by.
template <class S>
struct LongKeys : Reader<S> {
  std::uint32_t* key;
  Index* unit;
  TCSOLVE_HD void operator()(std::int64_t u) const {
    unit[u] = static_cast<Index>(u);
    key[u] =
        static_cast<std::uint32_t>(this->a.columns[this->long_part(static_cast<Index>(u)).begin]);
  }
};

struct Range {
  Index low = std::numeric_limits<Index>::max(), high = -1;
  TCSOLVE_HD void add(Index from, Index to) {
    low = from < low ? from : low;
    high = to > high ? to : high;
  }
};

/// counts[u]: blocks, lines of column numbers and irregular entries of unit u, and its base.
template <class S>
struct MeasureUnit : Reader<S> {
  DaspUnit* counts;
  TCSOLVE_HD void operator()(std::int64_t at) const {
    auto const& d = this->d;
    auto const& a = this->a;
    Index u = static_cast<Index>(at), blocks = 0;
    Offset irregular = 0;
    Range range;
    if (u < d.unit_count()) {
      DaspKind kind = d.kind(u);
      if (kind == DaspKind::long_row) {
        Part<S> part = this->long_part(u);
        blocks = static_cast<Index>((part.end - part.begin + d.block - 1) / d.block);
        range.add(a.columns[part.begin], a.columns[part.end - 1]);
      } else if (kind == DaspKind::medium) {
        Index m = u - d.long_units;
        blocks = this->medium_blocks(m);
        for (int r = 0; r < this->medium_lines(m); ++r) {
          Index row = this->medium_row(m, r);
          Offset length = this->length(row), stored = Offset{blocks} * d.slots;
          irregular += length > stored ? length - stored : 0;
          if (blocks > 0)
            range.add(a.columns[a.offsets[row]],
                      a.columns[a.offsets[row] + (length < stored ? length : stored) - 1]);
        }
      } else {
        Index v = d.within_kind(kind, u);
        for (int l = 0; l < d.pieces; ++l) {
          auto line = d.line(kind, v, l);
          if (line.first < 0) break;
          blocks = l / d.lines + 1;
          range.add(a.columns[a.offsets[line.first]], a.columns[a.offsets[line.first + 1] - 1]);
          if (line.second >= 0)
            range.add(a.columns[a.offsets[line.second]], a.columns[a.offsets[line.second + 1] - 1]);
        }
      }
    }
    bool wide = range.high >= 0 && range.high - range.low > 65535;
    counts[at] = {blocks, wide ? 2 * blocks : blocks,
                  wide             ? -1
                  : range.high < 0 ? 0
                                   : range.low,
                  static_cast<std::uint32_t>(irregular)};
  }
};

/// What the scan leaves out: the bases, and the rows of long units.
template <class S>
struct FinishUnit : Reader<S> {
  DaspUnit const* counts;
  DaspUnit* units;
  TCSOLVE_HD void operator()(std::int64_t u) const {
    units[u].base = counts[u].base;
    if (u < this->d.long_units) units[u].irregular = this->long_row(static_cast<Index>(u));
  }
};

enum class Write { all, values };  ///< of a matrix, or of one whose columns are there already

/// Lane i % 32 of unit i / 32 writes its slot of every block, and its share of irregular entries.
/// Write::values goes by the columns that are there: another pattern leads nowhere outside them.
template <class S, Write what>
struct FillUnit : Reader<S> {
  S* values;
  std::uint16_t* indices;
  std::uint32_t* irregular_start;
  S* irregular_values;
  std::int32_t* irregular_columns;

  TCSOLVE_HD void put(DaspUnit const& unit, Offset at, S value, Index column) const {
    values[Offset{unit.blocks} * this->d.block + at] = value;
    if constexpr (what == Write::all) {
      std::uint16_t* words = indices + Offset{unit.indices} * this->d.index_line;
      if (unit.base < 0)
        reinterpret_cast<std::int32_t*>(words)[at] = column;
      else
        words[at] = static_cast<std::uint16_t>(column - unit.base);
    }
  }
  /// Entry `from` where it is before `end`, else padding: 0 times the entry before `end`.
  TCSOLVE_HD void put_entry(DaspUnit const& unit, Offset at, Offset from, Offset end) const {
    bool inside = from < end;
    S value = inside ? this->a.values[from] : S(0.0f);
    put(unit, at, value, what == Write::all ? this->a.columns[inside ? from : end - 1] : 0);
  }
  TCSOLVE_HD void put_nothing(DaspUnit const& unit, Offset at) const {
    put(unit, at, S(0.0f), unit.base < 0 ? 0 : unit.base);
  }

  TCSOLVE_HD void operator()(std::int64_t i) const {
    auto const& d = this->d;
    auto const& a = this->a;
    Index u = static_cast<Index>(i / d.block);
    int lane = static_cast<int>(i % d.block), r = lane / d.slots, k = lane % d.slots;
    DaspUnit unit = d.units[u];
    Index blocks = d.units[u + 1].blocks - unit.blocks;
    DaspKind kind = d.kind(u);
    if (kind == DaspKind::long_row) {
      Part<S> part = this->long_part(u);
      for (Index b = 0; b < blocks; ++b)
        put_entry(unit, d.place(blocks, b, lane), part.begin + Offset{b} * d.block + lane,
                  part.end);
    } else if (kind == DaspKind::medium) {
      Index m = u - d.long_units;
      bool here = r < this->medium_lines(m);
      Index row = here ? this->medium_row(m, r) : 0;
      for (Index b = 0; b < blocks; ++b) {
        Offset at = d.place(blocks, b, lane);
        if (here)
          put_entry(unit, at, a.offsets[row] + Offset{b} * d.slots + k, a.offsets[row + 1]);
        else
          put_nothing(unit, at);
      }
      if (here) fill_irregular(m, unit, blocks, row, r, k);
    } else {
      Index v = d.within_kind(kind, u);
      for (Index b = 0; b < blocks; ++b) {
        Offset at = d.place(blocks, b, lane);
        auto line = d.line(kind, v, b * d.lines + r);
        Index row = k < line.split ? line.first : line.second;
        int j = k < line.split ? k : k - line.split;
        if (row >= 0)
          put_entry(unit, at, a.offsets[row] + j, a.offsets[row + 1]);
        else
          put_nothing(unit, at);
      }
    }
  }

  TCSOLVE_HD void fill_irregular(Index m, DaspUnit const& unit, Index blocks, Index row, int r,
                                 int k) const {
    auto const& d = this->d;
    auto const& a = this->a;
    Offset stored = Offset{blocks} * d.slots, start = unit.irregular, length = this->length(row);
    std::uint32_t* place = irregular_start + m * d.lines + r;
    if constexpr (what == Write::values) {
      start = place[0];
      Offset known = stored + place[1] - start;
      length = length < known ? length : known;
    } else {
      for (int above = 0; above < r; ++above) {
        Offset length_above = this->length(this->medium_row(m, above));
        start += length_above > stored ? length_above - stored : 0;
      }
      if (k == 0) *place = static_cast<std::uint32_t>(start);
    }
    for (Offset j = stored + k; j < length; j += d.slots) {
      irregular_values[start + j - stored] = a.values[a.offsets[row] + j];
      if constexpr (what == Write::all)
        irregular_columns[start + j - stored] = a.columns[a.offsets[row] + j];
    }
  }
};

/// The entries of rows with one, behind the irregular ones; i == singles() closes irregular_start.
template <class S, Write what>
struct FillSingle {
  CsrView<S> a;
  DaspView<S> d;
  std::uint32_t* irregular_start;
  S* irregular_values;
  std::int32_t* irregular_columns;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (i == d.singles()) {
      if constexpr (what == Write::all)
        irregular_start[d.medium_rows] = static_cast<std::uint32_t>(d.irregular);
      return;
    }
    Index row = d.order[d.first_single() + i];
    Offset from = a.offsets[row];
    if (from == a.offsets[row + 1]) return;  // another pattern
    irregular_values[d.irregular + i] = a.values[from];
    if constexpr (what == Write::all) irregular_columns[d.irregular + i] = a.columns[from];
  }
};

struct AddUnits {
  TCSOLVE_HD DaspUnit operator()(DaspUnit const& a, DaspUnit const& b) const {
    return {a.blocks + b.blocks, a.indices + b.indices, 0, a.irregular + b.irregular};
  }
};

/// The pointers of the view are those of the arrays.
template <class S>
void connect(DaspArrays<S>& m) {
  m.view.order = m.order.data();
  m.view.units = m.units.data();
  m.view.long_start = m.long_start.data();
  m.view.long_order = m.long_order.data();
  m.view.values = m.values.data();
  m.view.indices = m.indices.data();
  m.view.irregular_start = m.irregular_start.data();
  m.view.irregular_values = m.irregular_values.data();
  m.view.irregular_columns = m.irregular_columns.data();
}

template <Write what, class On, class S>
void fill(On& on, Reader<S> const& reader, DaspArrays<S>& m) {
  DaspView<S> const& d = reader.d;
  on.each(std::int64_t{d.unit_count()} * d.block,
          FillUnit<S, what>{reader, m.values.data(), m.indices.data(), m.irregular_start.data(),
                            m.irregular_values.data(), m.irregular_columns.data()});
  on.each(std::int64_t{d.singles()} + 1,
          FillSingle<S, what>{reader.a, d, m.irregular_start.data(), m.irregular_values.data(),
                              m.irregular_columns.data()});
}

template <class On, class S>
DaspArrays<S> build(On& on, CsrView<S> const& a, DaspTuning const& tuning) {
  // 31 bits hold every count below: a unit pads at most 31 slots, a row at most 3.
  if (a.entries > std::numeric_limits<std::int32_t>::max())
    throw SizeError(cat("DASP: ", a.entries, " entries; it counts irregular ones in 32 bits"));
  DaspArrays<S> m;
  DaspView<S>& d = m.view;
  d.rows = a.rows, d.cols = a.cols, d.entries = a.entries, d.space = on.space();
  Keys keys{tuning.max_length};
  m.order = Array<Index>(on.space(), a.rows);
  auto* key = on.template take<std::uint32_t>(a.rows);
  on.each(a.rows, SetKeys<S>{a, keys, key, m.order.data()});
  on.sort(key, m.order.data(), a.rows, keys.count());
  auto* bounds = on.template take<Index>(6);
  on.each(6, SetBounds{a.rows, keys, key, bounds});
  Index at[7];
  on.read(bounds, at, 6);
  at[6] = a.rows;
  d.long_rows = at[0];
  d.medium_rows = at[1] - at[0];
  for (int c = 1; c <= 5; ++c) d.with[5 - c] = at[c + 1] - at[c];
  connect(m);

  Index slots = m.long_slots = tuning.long_blocks * d.block;
  m.long_start = Array<Index>(on.space(), std::size_t(d.long_rows) + 1);
  if (d.long_rows > 0) {
    auto* counts = on.template take<Index>(std::size_t(d.long_rows) + 1);
    on.each(d.long_rows + 1, CountLong<S>{a, d, slots, counts});
    on.scan(counts, m.long_start.data(), d.long_rows + 1, Plus{});
    on.read(m.long_start.data() + d.long_rows, &d.long_units, 1);
  } else {
    on.clear(m.long_start.data(), 1);
  }
  connect(m);

  Index units = d.unit_count();
  m.units = Array<DaspUnit>(on.space(), std::size_t(units) + 1);
  auto* counts = on.template take<DaspUnit>(std::size_t(units) + 1);
  Reader<S> reader{a, d, tuning.threshold, slots};
  m.long_order = Array<Index>(on.space(), d.long_units);
  if (d.long_units > 0) {
    auto* column = on.template take<std::uint32_t>(d.long_units);
    on.each(d.long_units, LongKeys<S>{reader, column, m.long_order.data()});
    on.sort(column, m.long_order.data(), d.long_units, static_cast<std::uint32_t>(a.cols));
  }
  on.each(units + 1, MeasureUnit<S>{reader, counts});
  on.scan(counts, m.units.data(), units + 1, AddUnits{});
  on.each(units + 1, FinishUnit<S>{reader, counts, m.units.data()});
  DaspUnit total, medium_end, medium_begin;
  on.read(m.units.data() + units, &total, 1);
  on.read(m.units.data() + d.long_units, &medium_begin, 1);
  on.read(m.units.data() + d.long_units + d.medium_units(), &medium_end, 1);
  m.blocks = total.blocks;
  m.medium_blocks = medium_end.blocks - medium_begin.blocks;
  d.irregular = total.irregular;

  m.values = Array<S>(on.space(), std::size_t(total.blocks) * d.block);
  m.indices = Array<std::uint16_t>(on.space(), std::size_t(total.indices) * d.index_line);
  m.irregular_start = Array<std::uint32_t>(on.space(), std::size_t(d.medium_rows) + 1);
  m.irregular_values = Array<S>(on.space(), d.irregular + d.singles());
  m.irregular_columns = Array<std::int32_t>(on.space(), d.irregular + d.singles());
  connect(m);
  reader.d = d;
  fill<Write::all>(on, reader, m);
  return m;
}

/// The values of a in the place of those that m was built from.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, DaspArrays<S>& m) {
  fill<Write::values>(on, Reader<S>{a, m.view, 0, m.long_slots}, m);
}

}  // namespace tcsolve::dasp
