// SPDX-License-Identifier: Apache-2.0
/// CSR to SELL-32-sigma with compressed columns, written once for both backends
/// (kernels/convert.hpp): how many steps each slice takes, how long the column numbers of each
/// strip are, then the strips; and new values where the pattern stays.
#pragma once

#include <limits>

#include <tcsolve/formats/csell/build_lines.hpp>
#include <tcsolve/formats/csell/packet.hpp>

namespace tcsolve::csell {

/// Numbers of a step's columns that fit in so many bytes are 0 to this; the one after is padding.
TCSOLVE_HD constexpr std::uint32_t span(std::int32_t bytes) {
  return bytes == 1 ? 0xfeu : bytes == 2 ? 0xfffeu : 0x7ffffffeu;
}

/// The lines of a slice, walked side by side by their next columns: a step takes from each line its
/// next entry if that is near enough to the least one.
template <class W, class S>
struct Walk {
  static constexpr std::uint32_t none = 0xffffffffu;
  W const& warp;
  Index const* columns;
  typename W::template Of<Offset> at, end;
  typename W::template Of<std::uint32_t> next;

  TCSOLVE_HD Walk(W const& w, Lines<S> const& lines, std::int64_t slice)
      : warp(w), columns(lines.a.columns) {
    warp.each([&](int l) {
      auto const e = lines.of(slice * CsellView<S>::C + l);
      at[l] = e.begin, end[l] = e.end;
      next[l] = e.begin < e.end ? static_cast<std::uint32_t>(columns[e.begin]) : none;
    });
  }
  /// The least next column: the base of the step; `none` when all entries are taken.
  TCSOLVE_HD std::uint32_t base() const { return warp.least(next); }
  TCSOLVE_HD bool takes(int l, std::uint32_t base, std::int32_t bytes) const {
    return next[l] != none && next[l] - base <= span(bytes);
  }
  TCSOLVE_HD void advance(int l) {
    ++at[l];
    next[l] = at[l] < end[l] ? static_cast<std::uint32_t>(columns[at[l]]) : none;
  }
};

/// Steps and units of column numbers of strips, for scans.
struct Extent {
  std::int32_t steps = 0;
  std::uint32_t numbers = 0;
  TCSOLVE_HD Extent operator+(Extent const& b) const {
    return {steps + b.steps, numbers + b.numbers};
  }
};

/// The steps of a slice with column numbers of 1, 2 and 4 bytes; `never` where fewer bytes a number
/// are sure to take more in all.
struct Steps {
  static constexpr std::int32_t never = 1 << 24;
  std::int32_t one, two, four;
};

/// Bytes of so many steps.
template <class S>
TCSOLVE_HD constexpr Offset bytes_of(Offset steps, std::int32_t bytes) {
  return steps * (CsellView<S>::C * (static_cast<Offset>(sizeof(S)) + bytes) + 4);
}

/// The entries of the longest line of each slice; one more element closes the scan.
template <class S>
struct MeasureWidth {
  Lines<S> lines;
  Index slices;
  Index* width;
  TCSOLVE_HD void operator()(std::int64_t s) const {
    constexpr int C = CsellView<S>::C;
    Offset longest = 0;
    for (std::int64_t p = s * C; s < slices && p < (s + 1) * C; ++p) {
      auto const e = lines.of(p);
      longest = e.end - e.begin > longest ? e.end - e.begin : longest;
    }
    width[s] = static_cast<Index>(longest);
  }
};

template <class S>
struct MeasureSlice {
  Lines<S> lines;
  Steps* steps;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t s) const {
    Walk<W, S> const walk(warp, lines, s);
    typename W::template Of<std::uint32_t> shorter, first, before_last;  // complements: of the most
    warp.each([&](int l) {
      shorter[l] = ~static_cast<std::uint32_t>(walk.end[l] - walk.at[l]);
      first[l] = walk.next[l];
      bool const here = walk.at[l] < walk.end[l];
      before_last[l] =
          here ? ~static_cast<std::uint32_t>(walk.columns[walk.end[l] - 1]) : walk.none;
    });
    auto const longest = static_cast<std::int32_t>(~warp.least(shorter));
    // All columns of the slice are within two bytes of each other: no line has to wait.
    bool const near = longest == 0 || ~warp.least(before_last) - warp.least(first) <= span(2);
    Steps const here{count(warp, s, 1, longest), near ? longest : count(warp, s, 2, longest),
                     longest};
    warp.each([&](int l) {
      if (l == 0) steps[s] = here;
    });
  }

 private:
  template <class W>
  TCSOLVE_HD std::int32_t count(W const& warp, std::int64_t s, std::int32_t bytes,
                                std::int32_t longest) const {
    Offset const most = bytes_of<S>(longest, 4) / bytes_of<S>(1, bytes);
    Walk<W, S> walk(warp, lines, s);
    for (std::int32_t steps = 0; steps <= most; ++steps) {
      std::uint32_t const base = walk.base();
      if (base == walk.none) return steps;
      warp.each([&](int l) {
        if (walk.takes(l, base, bytes)) walk.advance(l);
      });
    }
    return Steps::never;
  }
};

/// The bytes that strip t takes for a column number, whichever makes it smallest; one more element
/// closes the scan. A slice without entries has a step, too: something must say where it ends.
template <class S>
struct MeasureStrip {
  Steps const* steps;
  Index slices, depth, count;
  CsellStrip* strips;
  Extent* extent;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    if (t == count) {
      extent[t] = {};
      return;
    }
    std::int32_t total[3] = {};
    Index const first = static_cast<Index>(t) * depth;
    for (Index s = first; s < first + depth && s < slices; ++s) {
      std::int32_t const each[3] = {steps[s].one, steps[s].two, steps[s].four};
      for (int k = 0; k < 3; ++k) total[k] += each[k] > 0 ? each[k] : 1;
    }
    int best = 0;
    for (int k = 1; k < 3; ++k)
      if (bytes_of<S>(total[k], 1 << k) < bytes_of<S>(total[best], 1 << best)) best = k;
    std::int32_t const even = (total[best] + 1) / 2 * 2;
    strips[t] = {0, 0, even, 1 << best};
    extent[t] = {even, static_cast<std::uint32_t>(even / 2) << best};
  }
};

/// Where strip t begins.
struct SetStart {
  Extent const* start;
  CsellStrip* strips;
  TCSOLVE_HD void operator()(std::int64_t t) const {
    strips[t].first = start[t].steps, strips[t].numbers = start[t].numbers;
  }
};

/// What a lane has in a step and the next one; they are stored together.
template <class S>
struct Pair {
  S value[2];
  Index number[2];
};

/// Ends, bases, column numbers and values of strip t.
template <class S>
struct FillStrip {
  Lines<S> lines;
  Index slices, depth;
  CsellStrip const* strips;
  std::int32_t *ends, *bases;
  S* values;
  std::uint8_t* numbers;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t t) const {
    CsellStrip const strip = strips[t];
    typename W::template Of<Pair<S>> pair;
    Index j = 0;
    auto const flush = [&] {  // steps j - 1 and j
      warp.each([&](int l) { put(strip, j - 1, l, pair[l]); });
    };
    Index const first = static_cast<Index>(t) * depth;
    for (Index s = first; s < first + depth && s < slices; ++s) {
      Walk<W, S> walk(warp, lines, s);
      std::uint32_t next = walk.base();
      do {
        std::uint32_t const base = strip.bytes == 4 || next == walk.none ? 0 : next;
        warp.each([&](int l) {
          bool const taken = walk.takes(l, base, strip.bytes);
          S const value = taken ? lines.a.values[walk.at[l]] : S(0.0f);
          Index const number = taken ? static_cast<Index>(walk.next[l] - base) : -1;
          if (j % 2 == 0)
            pair[l].value[0] = value, pair[l].number[0] = number;
          else
            pair[l].value[1] = value, pair[l].number[1] = number;
          if (taken) walk.advance(l);
          if (l == 0) bases[strip.first + j] = static_cast<std::int32_t>(base);
        });
        if (j % 2 == 1) flush();
        next = walk.base();
        ++j;
      } while (next != walk.none);
      warp.each([&](int l) {
        if (l == 0) ends[s] = j;
      });
    }
    if (j % 2 == 0) return;
    warp.each([&](int l) {
      pair[l].value[1] = S(0.0f), pair[l].number[1] = -1;
      if (l == 0) bases[strip.first + j] = 0;
    });
    flush();
  }

 private:
  TCSOLVE_HD void put(CsellStrip const& strip, Index j, int lane, Pair<S> const& pair) const {
    using View = CsellView<S>;
    Offset const at = View::place(j, lane);
    store(values + Offset{strip.first} * View::C + at, pair.value);
    std::uint8_t* const to = numbers + Offset{strip.numbers} * 64 + at * strip.bytes;
    if (strip.bytes == 1)
      store(to, pair.number);
    else if (strip.bytes == 2)
      store(reinterpret_cast<std::uint16_t*>(to), pair.number);
    else
      store(reinterpret_cast<std::int32_t*>(to), pair.number);
  }
  /// Two elements at once; -1 is padding in every type.
  template <class E, class F>
  TCSOLVE_HD static void store(E* to, F const (&from)[2]) {
    *reinterpret_cast<Packet<E, 2>*>(to) = {static_cast<E>(from[0]), static_cast<E>(from[1])};
  }
};

/// The values of strip t anew: its padding says which lines a step takes.
template <class S>
struct RefillStrip {
  Lines<S> lines;
  CsellView<S> m;
  S* values;
  template <class W>
  TCSOLVE_HD void operator()(W const& warp, std::int64_t t) const {
    CsellStrip const strip = m.strips[t];
    if (strip.bytes == 1) return fill<std::uint8_t>(warp, t, strip);
    if (strip.bytes == 2) return fill<std::uint16_t>(warp, t, strip);
    fill<std::int32_t>(warp, t, strip);
  }

 private:
  template <class I, class W>
  TCSOLVE_HD void fill(W const& warp, std::int64_t t, CsellStrip const& strip) const {
    using View = CsellView<S>;
    auto const* const numbers =
        reinterpret_cast<Packet<I, 2> const*>(m.numbers + Offset{strip.numbers} * 64);
    auto* const to = reinterpret_cast<Packet<S, 2>*>(values + Offset{strip.first} * View::C);
    typename W::template Of<Offset> at, last;
    std::int64_t slice = t * m.depth;
    Index end = 0;
    auto const begin = [&](int l) {
      auto const e = lines.of(slice * View::C + l);
      at[l] = e.begin, last[l] = e.end;
    };
    warp.each(begin);
    end = m.ends[slice];
    for (Index j = 0; j < strip.steps; j += 2) {
      typename W::template Of<Packet<I, 2>> number;
      typename W::template Of<Packet<S, 2>> value;
      warp.each([&](int l) { number[l] = numbers[j / 2 * View::C + l]; });
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int k = 0; k < 2; ++k) {
        if (j + k == end) {  // never the padding of the strip: there is no slice after it
          ++slice;
          if (slice < (t + 1) * m.depth && slice * View::C < m.lines) {
            warp.each(begin);
            end = m.ends[slice];
          }
        }
        warp.each([&](int l) {
          // The pattern is not checked here: another one must not cause reads beyond its arrays.
          bool const taken = number[l].e[k] != csell_padding<I> && at[l] < last[l];
          value[l].e[k] = taken ? lines.a.values[at[l]] : S(0.0f);
          at[l] += taken;
        });
      }
      warp.each([&](int l) { to[j / 2 * View::C + l] = value[l]; });
    }
  }
};

template <class S>
void connect(CsellArrays<S>& m) {
  CsellView<S>& v = m.view;
  v.strips = m.strips.data(), v.ends = m.ends.data(), v.bases = m.bases.data();
  v.numbers = m.numbers.data(), v.values = m.values.data();
  v.order = m.order.data();
  v.long_row = m.long_row.data(), v.long_start = m.long_start.data();
}

/// Slices of a strip: enough steps to be worth a warp's start, but three strips for every warp that
/// runs at a time (2640 of an H200).
inline Index choose_depth(Offset entries, Index slices) {
  constexpr Index strips = 8000;
  Index depth = 1;
  while (depth < CsellTuning::deepest && depth * entries < Offset{32 * 32} * slices &&
         slices >= strips * depth)
    depth *= 2;
  return depth;
}

template <class On, class S>
CsellArrays<S> build(On& on, CsrView<S> const& a, CsellTuning const& tuning) {
  constexpr int C = CsellView<S>::C;
  CsellArrays<S> m;
  CsellView<S>& v = m.view;
  v.rows = a.rows, v.cols = a.cols, v.entries = a.entries, v.space = on.space();
  m.most = tuning.max_length > 0 ? tuning.max_length : choose_length(a.entries);

  std::size_t const rows = std::size_t(a.rows) + 1;
  auto* counts = on.template take<Index>(rows);
  auto* long_lines = on.template take<Index>(rows);
  auto* longs = on.template take<Index>(rows);
  m.first = Array<Index>(on.space(), rows);
  on.each(rows, CountLines<S>{a, m.most, counts, long_lines, longs});
  on.scan(counts, m.first.data(), rows, Plus{});
  on.read(m.first.data() + a.rows, &v.lines, 1);
  Index* parts = nullptr;
  if (v.lines > a.rows) {
    parts = on.template take<Index>(rows);
    auto* long_rows = on.template take<Index>(rows);
    on.scan(long_lines, parts, rows, Plus{});
    on.scan(longs, long_rows, rows, Plus{});
    on.read(parts + a.rows, &v.parts, 1);
    on.read(long_rows + a.rows, &v.long_rows, 1);
    m.row = Array<Index>(on.space(), v.lines);
    on.each(a.rows, NameLines<S>{m.first.data(), a.rows, m.row.data()});
    m.long_row = Array<Index>(on.space(), v.long_rows);
    m.long_start = Array<Index>(on.space(), std::size_t(v.long_rows) + 1);
    on.each(rows, SetLong{long_rows, parts, a.rows, m.long_row.data(), m.long_start.data()});
  } else {
    m.first = Array<Index>();
  }

  auto const slices = static_cast<Index>((std::int64_t{v.lines} + C - 1) / C);
  v.depth = tuning.strip > 0 ? tuning.strip : choose_depth(a.entries, slices);
  v.count = (slices + v.depth - 1) / v.depth;
  m.strips = Array<CsellStrip>(on.space(), v.count);
  auto* steps = on.template take<Steps>(slices);
  std::size_t const closed = std::size_t(v.count) + 1;
  auto* extent = on.template take<Extent>(closed);
  auto* start = on.template take<Extent>(closed);
  Extent total;
  Index unsorted_steps = 0;
  if (v.parts == 0) {
    auto* width = on.template take<Index>(std::size_t(slices) + 1);
    auto* before = on.template take<Index>(std::size_t(slices) + 1);
    on.each(std::int64_t{slices} + 1, MeasureWidth<S>{lines_of(m, a), slices, width});
    on.scan(width, before, std::int64_t{slices} + 1, Plus{});
    on.read(before + slices, &unsorted_steps, 1);
  }
  if (v.parts > 0 ||
      double(unsorted_steps) * C > (1 + tuning.padding) * double(a.entries) + C * C) {
    std::int64_t const windows = (std::int64_t{v.lines} + tuning.window - 1) / tuning.window;
    std::int64_t const keys = windows * SetKeys<S>::pieces * (m.most + 1);
    if (keys > std::numeric_limits<std::uint32_t>::max())
      throw SizeError(cat("csell: ", windows, " windows; sorting keys have 32 bits: take a larger ",
                          "window than ", tuning.window));
    m.at = Array<Index>(on.space(), v.lines);
    auto* key = on.template take<std::uint32_t>(v.lines);
    Lines<S> unsorted = lines_of(m, a);
    unsorted.at = nullptr;
    on.each(v.lines, SetKeys<S>{unsorted, tuning.window, key, m.at.data()});
    on.sort(key, m.at.data(), v.lines, static_cast<std::uint32_t>(keys));
  }
  if (v.parts > 0 || m.at.size() > 0) {
    m.order = Array<std::int32_t>(on.space(), v.lines);
    on.each(v.lines, SetOrder<S>{lines_of(m, a), parts, m.order.data()});
  }

  on.each_warp(slices, MeasureSlice<S>{lines_of(m, a), steps});
  on.each(closed, MeasureStrip<S>{steps, slices, v.depth, v.count, m.strips.data(), extent});
  on.scan(extent, start, closed, Plus{});
  on.read(start + v.count, &total, 1);
  // Kernels read a few steps past the end, and the end of one slice more.
  std::size_t const stored = std::size_t(total.steps) + CsellView<S>::slack;
  std::size_t const units = std::size_t(total.numbers) + CsellView<S>::slack / 2 * 4;
  m.ends = Array<std::int32_t>(on.space(), std::size_t(slices) + 1);
  m.bases = Array<std::int32_t>(on.space(), stored);
  m.numbers = Array<std::uint8_t>(on.space(), units * 64);
  m.values = Array<S>(on.space(), stored * C);
  on.clear(m.ends.data() + slices, 1);
  on.clear(m.bases.data() + total.steps, CsellView<S>::slack);
  on.clear(m.numbers.data() + std::size_t(total.numbers) * 64,
           units * 64 - std::size_t(total.numbers) * 64);
  on.clear(m.values.data() + std::size_t(total.steps) * C, CsellView<S>::slack * C);
  on.each(v.count, SetStart{start, m.strips.data()});
  on.each_warp(v.count,
               FillStrip<S>{lines_of(m, a), slices, v.depth, m.strips.data(), m.ends.data(),
                            m.bases.data(), m.values.data(), m.numbers.data()});
  connect(m);
  return m;
}

/// The values of line l, where lines are rows as they come: a warp's lines are a slice, and near.
template <class S>
struct RefillLine {
  CsellView<S> m;
  S* values;
  TCSOLVE_HD void operator()(CsrView<S> const& a, std::int64_t l) const {
    using View = CsellView<S>;
    std::int64_t const slice = l / View::C, t = slice / m.depth;
    CsellStrip const strip = m.strips[t];
    Index const begin = slice == t * m.depth ? 0 : m.ends[slice - 1], end = m.ends[slice];
    if (strip.bytes == 1) return fill<std::uint8_t>(a, l, strip, begin, end);
    if (strip.bytes == 2) return fill<std::uint16_t>(a, l, strip, begin, end);
    fill<std::int32_t>(a, l, strip, begin, end);
  }

 private:
  template <class I>
  TCSOLVE_HD void fill(CsrView<S> const& a, std::int64_t l, CsellStrip const& strip, Index begin,
                       Index end) const {
    using View = CsellView<S>;
    int const lane = static_cast<int>(l % View::C);
    auto const* const numbers = reinterpret_cast<I const*>(m.numbers + Offset{strip.numbers} * 64);
    S* const to = values + Offset{strip.first} * View::C;
    Offset at = a.offsets[l];
    Offset const last = a.offsets[l + 1];
    auto const next = [&](I number) {
      // The pattern is not checked here: another one must not cause reads beyond its arrays.
      bool const taken = number != csell_padding<I> && at < last;
      S const value = taken ? a.values[at] : S(0.0f);
      at += taken;
      return value;
    };
    Index j = begin;
    if (j < end && j % 2 == 1) to[View::place(j, lane)] = next(numbers[View::place(j, lane)]), ++j;
    for (; j + 2 <= end; j += 2) {
      Offset const here = View::place(j, lane);
      auto const pair = *reinterpret_cast<Packet<I, 2> const*>(numbers + here);
      Packet<S, 2> both;
      both.e[0] = next(pair.e[0]), both.e[1] = next(pair.e[1]);
      *reinterpret_cast<Packet<S, 2>*>(to + here) = both;
    }
    if (j < end) to[View::place(j, lane)] = next(numbers[View::place(j, lane)]);
  }
};

/// The same pattern with new values.
template <class On, class S>
void refill(On& on, CsrView<S> const& a, CsellArrays<S>& m) {
  if (m.view.order == nullptr)
    return on.each_row_of_values(a.rows, a, RefillLine<S>{m.view, m.values.data()});
  on.each_warp(m.view.count, RefillStrip<S>{lines_of(m, a), m.view, m.values.data()});
}

}  // namespace tcsolve::csell
