// SPDX-License-Identifier: Apache-2.0
/// Products of sparse vectors by the entries of columns (sparse/spmspv.hpp), for an x whose entries
/// are scattered: nearly every tile of A meets some tile of x then, and few entries of either are
/// needed. Steps as in sparse/spmspv_build.hpp, the first two of them others:
///
///     list     a_ij of the columns j of x's entries, which are the rows of A^T, to lists of 16
///              rows each, in any order. A list has room for 16; the tile of one that would be
///              longer is `full`
///     sum      half a warp for each list: a row takes its products by ascending place of x_j, so
///              in the order of the row, whichever came first. Full tiles are gathered from A
///
///     x        place 0: x_1 = 5     columns of A   1: rows 0, 3      6: rows 3, 40
///              place 9: x_6 = 2
///     lists    strip 0    row, place   3 0 | 3 9 | 0 0       row 3: a_31 5, then a_36 2
///              strip 2                 8 9
///
/// A product is as many reads that wait for one another as there are steps in it: x's tile, where
/// its column begins, the column, the list's end, the list. So a warp takes four of x's tiles, or
/// eight lists, at once. Rows of A and of A^T are canonical: their columns ascend.
#pragma once

#include <tcsolve/sparse/spmspv_build.hpp>

namespace tcsolve::spmspv {

/// The n-th least number, n from 0 on, of a set that has more than n.
TCSOLVE_HD int nth_bit(std::uint64_t v, int n) {
  int at = 0;
  for (int step = 32; step > 0; step /= 2)
    if (count_bits(v & ((std::uint64_t{1} << (at + step)) - 1)) <= n) at += step;
  return at;
}

/// Products j of x's tiles 4 k, ..., 4 k + 3 go to their lists; beyond x's tiles, those of the old
/// y are marked; then words are cleared.
template <class P, class S, class T>
struct ListEntries {
  static constexpr int tiles = 4;  ///< of x, for a warp
  static constexpr int ahead = 4;  ///< entries that a lane has on their way at once
  P p;
  CsrView<S> columns;  ///< A^T
  MetEntry<T>* entries;

  TCSOLVE_HD std::int64_t parts() const { return (std::int64_t{p.x.tiles} + tiles - 1) / tiles; }
  TCSOLVE_HD std::int64_t old_parts() const { return p.with_old ? p.old_parts() : 0; }
  TCSOLVE_HD std::int64_t warps() const { return parts() + old_parts() + (p.words() + 31) / 32; }

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    if (k >= parts() + old_parts()) return clear_kept(p, warp, k - parts() - old_parts());
    if (k >= parts()) {
      auto const tile = old_tiles(p, warp, k - parts());
      return warp.each([&](int lane) {
        if (tile[lane] >= 0) mark(tile[lane]);
      });
    }
    typename Warp::template Of<std::uint64_t> there;
    typename Warp::template Of<Index> tile;
    typename Warp::template Of<std::uint32_t> before;
    warp.each([&](int lane) {
      std::int64_t const at = tiles * k + lane;
      bool const mine = lane < tiles && at < p.x.tiles;
      there[lane] = mine ? p.x.there[at] : 0;
      tile[lane] = mine ? p.x.list[at] : 0;
      before[lane] = static_cast<std::uint32_t>(count_bits(there[lane]));
    });
    std::uint32_t const count = sums_before(warp, before);
    for (std::uint32_t first = 0; first < count; first += 32) {
      auto const owner = owners(warp, before, first);
      auto const bits = taken_from(warp, there, owner);
      auto const number = taken_from(warp, tile, owner);
      auto const skipped = taken_from(warp, before, owner);
      // Of a lane's column: the place of x_j, where it begins, the entries of those before it.
      typename Warp::template Of<std::uint32_t> place, begin, start;
      warp.each([&](int lane) {
        place[lane] = begin[lane] = start[lane] = 0;
        std::uint32_t const c = first + static_cast<std::uint32_t>(lane);
        if (c >= count) return;
        int const r = nth_bit(bits[lane], static_cast<int>(c - skipped[lane]));
        std::int64_t const j = std::int64_t{number[lane]} * p.side() + r;
        place[lane] = static_cast<std::uint32_t>((tiles * k + owner[lane]) * p.side() + r);
        begin[lane] = static_cast<std::uint32_t>(columns.offsets[j]);
        start[lane] = static_cast<std::uint32_t>(columns.offsets[j + 1]) - begin[lane];
      });
      std::uint32_t const total = sums_before(warp, start);
      for (std::uint32_t v = 0; v < total; v += 32 * ahead)
        list(warp, v, total, start, begin, place);
    }
  }

 private:
  TCSOLVE_HD void mark(std::int64_t tile) const {
    atomic_or(p.marked + tile / 64, std::uint64_t{1} << (tile % 64));
  }
  /// Entries first, ..., first + 32 ahead - 1 of the warp's columns.
  template <class Warp>
  TCSOLVE_HD void list(Warp const& warp, std::uint32_t first, std::uint32_t total,
                       typename Warp::template Of<std::uint32_t> const& start,
                       typename Warp::template Of<std::uint32_t> const& begin,
                       typename Warp::template Of<std::uint32_t> const& place) const {
    typename Warp::template Of<Index> row[ahead], at[ahead];
    typename Warp::template Of<T> a[ahead];
    typename Warp::template Of<std::uint32_t> from[ahead];
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d) {
      auto const owner = owners(warp, start, first + 32 * d);
      auto const its_begin = taken_from(warp, begin, owner);
      auto const its_start = taken_from(warp, start, owner);
      from[d] = taken_from(warp, place, owner);
      warp.each([&](int lane) {
        std::uint32_t const v = first + 32 * d + static_cast<std::uint32_t>(lane);
        std::uint32_t const k = its_begin[lane] + v - its_start[lane];
        row[d][lane] = v < total ? columns.columns[k] : -1;
        a[d][lane] = v < total ? T(columns.values[k]) : T(0);
      });
    }
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        at[d][lane] = row[d][lane] >= 0 ? atomic_add(p.met + row[d][lane] / strip_rows, 1) : -1;
      });
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d) {
      typename Warp::template Of<Index> full;
      typename Warp::template Of<std::uint32_t> any;
      warp.each([&](int lane) {
        Index const i = row[d][lane], place_of = at[d][lane];
        if (place_of >= 0 && place_of < list_room)
          entries[std::int64_t{i / strip_rows} * list_room + place_of] = {
              a[d][lane], from[d][lane], static_cast<std::uint32_t>(i % strip_rows)};
        if (place_of == 0) mark(p.x.tile(i));
        any[lane] = place_of == list_room;
        full[lane] = any[lane] != 0 ? static_cast<Index>(p.x.tile(i)) : -1;
      });
      if (mask_of(warp, any) != 0) append(p, p.full, warp, full);
    }
  }
};

/// Lane 16 h + r adds what belongs to row r of the list of half h, by ascending place. A lane has
/// an entry of its half's list; row strip_rows: none.
template <class Warp, class T>
TCSOLVE_HD void add_by_place(Warp const& warp, Met<Warp, T> const& met,
                             typename Warp::template Of<std::uint32_t> const& place,
                             typename Warp::template Of<Sum<T>>& sum) {
  typename Warp::template Of<std::uint32_t> bit, mine, left, least, from;
  warp.each([&](int lane) { bit[lane] = met.row[lane] < strip_rows; });
  std::uint32_t const all = mask_of(warp, bit);
  if (all == 0) return;
  warp.each([&](int lane) { mine[lane] = all & (0xffffu << (lane & 16)); });
  TCSOLVE_UNROLL
  for (int b = 0; b < 4; ++b) {
    warp.each([&](int lane) { bit[lane] = met.row[lane] >> b & 1; });
    std::uint32_t const set = mask_of(warp, bit);
    warp.each([&](int lane) { mine[lane] &= (lane >> b & 1) != 0 ? set : ~set; });
  }
  while (mask_of(warp, mine) != 0) {
    warp.each([&](int lane) {
      left[lane] = mine[lane] & (mine[lane] - 1);  // those beside the first
      from[lane] = mine[lane] != 0 ? static_cast<std::uint32_t>(lowest_bit(mine[lane])) : 0;
    });
    if (mask_of(warp, left) != 0) {
      least = taken_from(warp, place, from);
      do {
        warp.each([&](int lane) {
          bit[lane] = left[lane] != 0 ? static_cast<std::uint32_t>(lowest_bit(left[lane])) : 0;
        });
        auto const other = taken_from(warp, place, bit);
        warp.each([&](int lane) {
          if (left[lane] != 0 && other[lane] < least[lane])
            least[lane] = other[lane], from[lane] = bit[lane];
          left[lane] &= left[lane] - 1;
        });
      } while (mask_of(warp, left) != 0);
    }
    auto const a = taken_from(warp, met.a, from);
    auto const x = taken_from(warp, met.x, from);
    warp.each([&](int lane) {
      if (mine[lane] == 0) return;
      sum[lane](a[lane], x[lane]);
      mine[lane] &= ~(std::uint32_t{1} << from[lane]);
    });
  }
}

/// Tiles of the list are gathered, and the old tiles copied, as by columns (SumTile); beyond those,
/// lists of 16 tiles of a word are added.
template <class M, class T>
struct SumLists {
  static constexpr int parts_of_word = 4, tiles_of_part = 64 / parts_of_word;
  static constexpr int ahead = 4;  ///< lists that half a warp has on their way at once
  SumTile<M, T> gather;
  MetEntry<T> const* entries;

  TCSOLVE_HD std::int64_t gathered() const { return gather.count + gather.p.old_parts(); }
  TCSOLVE_HD std::int64_t warps() const { return gathered() + parts_of_word * gather.p.words(); }

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t c) const {
    if (c < gathered()) return gather(warp, c);
    Product<M, T> const& p = gather.p;
    std::int64_t const w = (c - gathered()) / parts_of_word;
    int const shift = static_cast<int>((c - gathered()) % parts_of_word) * tiles_of_part;
    std::uint64_t const bits = (p.marked[w] & ~p.full[w]) >> shift & 0xffffu;
    int const lists = count_bits(bits) * p.strips();
    if (lists == 0) return;
    typename Warp::template Of<std::uint32_t> kept;  // tiles that have entries, each of one lane
    warp.each([&](int lane) { kept[lane] = 0; });
    for (int first = 0; first < lists; first += 2 * ahead)
      add(warp, 64 * w + shift, bits, first, lists, kept);
    std::uint64_t const all = warp.sum(kept);
    warp.each([&](int lane) {
      if (lane == 0 && all != 0) p.keep(w, all << shift);
    });
  }

 private:
  /// Lists first, ..., first + 2 ahead - 1 of the tiles `bits` from `base` on.
  template <class Warp>
  TCSOLVE_HD void add(Warp const& warp, std::int64_t base, std::uint64_t bits, int first, int lists,
                      typename Warp::template Of<std::uint32_t>& kept) const {
    Product<M, T> const& p = gather.p;
    int const strips = p.strips(), shift = lowest_bit(static_cast<std::uint32_t>(strips));
    typename Warp::template Of<Index> strip[ahead];
    typename Warp::template Of<std::uint32_t> place[ahead];
    Met<Warp, T> met[ahead];
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        int const l = first + 2 * d + lane / strip_rows;
        strip[d][lane] =
            l < lists ? static_cast<Index>((base + nth_bit(bits, l >> shift)) * strips) + l % strips
                      : -1;
        place[d][lane] = 0, met[d].a[lane] = T(0), met[d].row[lane] = Met<Warp, T>::none;
        if (l >= lists || lane % strip_rows >= p.met[strip[d][lane]]) return;
        MetEntry<T> const& e =
            entries[std::int64_t{strip[d][lane]} * list_room + lane % strip_rows];
        met[d].a[lane] = e.a, met[d].row[lane] = e.row, place[d][lane] = e.place;
      });
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        met[d].x[lane] = met[d].row[lane] < strip_rows ? p.x.values[place[d][lane]] : T(0);
      });
    std::uint32_t even = 0;
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d) {
      if (first + 2 * d >= lists) return;
      typename Warp::template Of<Sum<T>> sum;
      warp.each([&](int lane) { sum[lane] = Sum<T>{p.semiring}; });
      add_by_place(warp, met[d], place[d], sum);
      std::uint32_t const rows = finish_rows(warp, strip[d], sum);
      keep(warp, base, strip[d], d, rows, even, kept);
      even = rows;
    }
  }
  /// Values of the rows of both lists, whose counts are cleared. Returns which are entries.
  template <class Warp>
  TCSOLVE_HD std::uint32_t finish_rows(Warp const& warp,
                                       typename Warp::template Of<Index> const& strip,
                                       typename Warp::template Of<Sum<T>>& sum) const {
    Product<M, T> const& p = gather.p;
    typename Warp::template Of<std::uint32_t> is;
    warp.each([&](int lane) {
      is[lane] = 0;
      if (strip[lane] < 0) return;
      std::int64_t const i = std::int64_t{strip[lane]} * strip_rows + lane % strip_rows;
      is[lane] =
          i < p.rows && !(p.with_mask && p.mask.has(i) == p.complement) && finish(p, i, sum[lane]);
      p.values[i] = is[lane] != 0 ? sum[lane].value : T(0);
      if (lane % strip_rows == 0) put(p.met + strip[lane], 0);
    });
    return mask_of(warp, is);
  }
  /// `rows` of both lists to their tiles: two of 16, one of 32, or with `even`, those of the lists
  /// before, one of 64. Those that have entries are bits from `base` on.
  template <class Warp>
  TCSOLVE_HD void keep(Warp const& warp, std::int64_t base,
                       typename Warp::template Of<Index> const& strip, int d, std::uint32_t rows,
                       std::uint32_t even, typename Warp::template Of<std::uint32_t>& kept) const {
    Product<M, T> const& p = gather.p;
    warp.each([&](int lane) {
      bool const first_of_tile = p.side() == 16   ? lane % strip_rows == 0
                                 : p.side() == 32 ? lane == 0
                                                  : lane == 0 && d % 2 == 1;
      if (!first_of_tile || strip[lane] < 0) return;
      std::uint64_t const there = p.side() == 16   ? rows >> lane & 0xffffu
                                  : p.side() == 32 ? rows
                                                   : std::uint64_t{rows} << 32 | even;
      Index const tile = strip[lane] / p.strips();
      p.there[tile] = there;
      if (there != 0) kept[lane] |= std::uint32_t{1} << (tile - base);
    });
  }
};

template <class M, class S, class T>
struct MultiplyByEntries {
  Product<M, T> p;
  CsrView<S> columns;
  MetEntry<T>* entries;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    using P = Product<M, T>;
    ListEntries<P, S, T> const list{p, columns, entries};
    steps.each_warp(list.warps(), list);
    SumLists<M, T> const sum{{p, steps.value(p.count_of_list), true}, entries};
    steps.each_warp(sum.warps(), sum);
    steps.each_warp(Place<P>::warps(p), Place<P>{p, -1});
  }
};

/// `columns`: A^T.
template <class T, class On, class M, class S>
SparseProductNotes multiply_by_entries(On& on, M const& a, Index rows, CsrView<S> const& columns,
                                       SparseProduct<T> const& how, SparseVectorView<T> const& x,
                                       SparseVectorArrays<T>& y, SpmspvMemory<T>& memory) {
  std::int64_t const tiles = y.view.tile_count(), strips = tiles * (x.side / strip_rows);
  grow(on, memory.full, (tiles + 63) / 64);
  grow(on, memory.met, strips);
  if (memory.entries.size() < static_cast<std::size_t>(strips * list_room))
    memory.entries = Array<MetEntry<T>>(on.space(), static_cast<std::size_t>(strips * list_room));
  return multiply<T>(on, a, rows, TilesBelow{}, static_cast<T const*>(nullptr), true, how, x, y,
                     memory, [&](Product<M, T> const& p) {
                       cooperate(on, MultiplyByEntries<M, S, T>{p, columns, memory.entries.data()});
                     });
}

}  // namespace tcsolve::spmspv
