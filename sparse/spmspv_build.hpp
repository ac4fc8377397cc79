// SPDX-License-Identifier: Apache-2.0
/// Products of sparse vectors (sparse/spmspv.hpp), written once over kernels/steps.hpp for any
/// matrix that can gather 16 rows (sparse/spmspv_gather.hpp). Two barriers, between three steps:
///
///     mark     a warp for each tile of x: the tile rows below it, each once, to a list in any
///              order; a bit a tile tells those that are there already                 by columns
///     sum      a warp for each tile of y that may have entries; a bit for each that has some
///     place    the tiles that have entries, ascending: a tile's place is the number of such bits
///              before it
///
///     bits     0 1 1 0 | 1 0 . .      words of 64 tiles, of which 1 2 4 have entries
///     groups   2       | 1            how many have, of 64 words each
///     place    - 0 1 - | 2 - . .      each warp counts anew what lies before its tiles: groups,
///                                     then words of its own
///
/// All warps add to the counts of a few groups, and a line of memory takes one addition at a time:
/// each group has a line of its own.
///
/// By the entries of columns the first two are others (sparse/spmspv_entries_build.hpp).
///
/// No step but one over the words of bits (a 1024th of n for tiles of 16) goes through all tiles of
/// y. Its arrays are kept where they are and grow when a product has more tiles than there is room
/// for; the place step is then run once more.
#pragma once

#include <algorithm>
#include <array>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/sparse/sparse_vector_build.hpp>
#include <tcsolve/sparse/spmspv_gather.hpp>

namespace tcsolve::spmspv {

constexpr int words_of_group = 64;
constexpr int counts_of_line = 32;  ///< Index in a line of 128 bytes

/// What a product tells the host in one word, which is there as a whole or not at all.
constexpr std::uint64_t not_told = ~std::uint64_t{0};
TCSOLVE_HD std::uint64_t told_as(Index marked, Index kept) {
  return std::uint64_t{static_cast<std::uint32_t>(marked)} << 32 | static_cast<std::uint32_t>(kept);
}

/// The operands of a product and its memory.
template <class M, class T>
struct Product {
  M a;
  Index rows;
  SparseVectorView<T> x, old, mask;
  bool with_old, with_mask, complement;
  T alpha, beta;
  Semiring semiring;
  TilesBelow below;        ///< starts null: by rows
  T const* sums;           ///< (rows) A x where a dense product has made it, or null
  std::uint64_t* marked;   ///< (words) by columns; zeros before and after
  std::uint64_t* full;     ///< (words) by entries, like `marked`; else null
  Index* met;              ///< (strips) by entries, like `marked`; else null
  std::uint64_t* kept;     ///< (words) tiles that have entries
  Index* groups;           ///< (words / words_of_group, counts_of_line) how many have
  Index *list, *old_list;  ///< (tiles) tiles to be gathered; tiles of the old y
  std::uint64_t* there;    ///< (tiles) what y will hold, at its tile
  T* values;               ///< (tiles, side)
  Index* count_of_list;    ///< 0 before and after
  std::uint64_t* told;     ///< tiles marked and kept (told_as()), where the host reads them
  SparseVectorView<T> y;   ///< with room for ...
  Index room;              ///< ... so many tiles
  Index *y_place, *y_list;
  std::uint64_t* y_there;
  T* y_values;

  TCSOLVE_HD int side() const { return x.side; }
  TCSOLVE_HD int strips() const { return x.side / strip_rows; }  ///< of a tile
  TCSOLVE_HD std::int64_t tiles() const { return x.side > 0 ? y.tile_count() : 0; }
  TCSOLVE_HD std::int64_t words() const { return (tiles() + 63) / 64; }
  TCSOLVE_HD std::int64_t old_parts() const { return (std::int64_t{old.tiles} + 31) / 32; }
  TCSOLVE_HD bool by_columns() const { return below.starts != nullptr; }
  /// How many tiles of the group of word w have entries.
  TCSOLVE_HD Index* group(std::int64_t w) const {
    return groups + w / words_of_group * counts_of_line;
  }
  /// Tiles of word w that have entries. A warp that has several tiles of a word keeps them
  /// together.
  TCSOLVE_HD void keep(std::int64_t w, std::uint64_t tiles_of_word) const {
    atomic_or(kept + w, tiles_of_word);
    atomic_add(group(w), static_cast<Index>(count_bits(tiles_of_word)));
  }
  TCSOLVE_HD void keep(std::int64_t tile) const {
    keep(tile / 64, std::uint64_t{1} << (tile % 64));
  }
};

/// Words of bits, and their groups, are cleared by warps of their own beside those of a step.
template <class P, class Warp>
TCSOLVE_HD void clear_kept(P const& p, Warp const& warp, std::int64_t part) {
  warp.each([&](int lane) {
    std::int64_t const w = 32 * part + lane;
    if (w >= p.words()) return;
    p.kept[w] = 0;
    if (w % words_of_group == 0) *p.group(w) = 0;
  });
}

/// Tiles whose bits no warp has set join the list; -1: none.
template <class P, class Warp>
TCSOLVE_HD void append(P const& p, std::uint64_t* bits, Warp const& warp,
                       typename Warp::template Of<Index> const& tile) {
  typename Warp::template Of<std::uint32_t> fresh, first;
  warp.each([&](int lane) {
    fresh[lane] = 0;
    if (tile[lane] < 0) return;
    std::uint64_t* const word = bits + tile[lane] / 64;
    std::uint64_t const bit = std::uint64_t{1} << (tile[lane] % 64);
    if ((glance_bits(word) & bit) == 0) fresh[lane] = (atomic_or(word, bit) & bit) == 0;
  });
  auto rank = fresh;
  std::uint32_t const found = warp.rank(rank);
  if (found == 0) return;
  typename Warp::template Of<Index> start;
  warp.each([&](int lane) {
    start[lane] = lane == 0 ? atomic_add(p.count_of_list, static_cast<Index>(found)) : 0;
    first[lane] = 0;
  });
  auto const from = taken_from(warp, start, first);
  warp.each([&](int lane) {
    if (fresh[lane] != 0) p.list[from[lane] + static_cast<Index>(rank[lane])] = tile[lane];
  });
}

/// Tiles of the old y that a lane of part `part` has; -1: none.
template <class P, class Warp>
TCSOLVE_HD typename Warp::template Of<Index> old_tiles(P const& p, Warp const& warp,
                                                       std::int64_t part) {
  typename Warp::template Of<Index> tile;
  warp.each([&](int lane) {
    std::int64_t const at = 32 * part + lane;
    tile[lane] = at < p.old.tiles ? p.old.list[at] : -1;
  });
  return tile;
}

/// Tile k of x marks the tile rows below it; beyond those, tiles of the old y; then words are
/// cleared.
template <class P>
struct Mark {
  P p;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    if (k >= p.x.tiles) {
      std::int64_t const part = k - p.x.tiles, old_parts = p.with_old ? p.old_parts() : 0;
      if (part >= old_parts) return clear_kept(p, warp, part - old_parts);
      return append(p, p.marked, warp, old_tiles(p, warp, part));
    }
    // `there` may leave some of a tile's columns out.
    for (int strip = 0; strip < p.strips(); ++strip) {
      if ((p.x.there[k] >> (16 * strip) & 0xffffu) == 0) continue;
      std::int64_t const column = std::int64_t{p.x.list[k]} * p.strips() + strip;
      Index const begin = p.below.starts[column], end = p.below.starts[column + 1];
      for (Index first = begin; first < end; first += 32) {
        typename Warp::template Of<Index> tile;
        warp.each([&](int lane) {
          tile[lane] = first + lane < end ? p.below.rows[first + lane] / p.strips() : -1;
        });
        append(p, p.marked, warp, tile);
      }
    }
  }
};
/// What is left of it by rows.
template <class P>
struct ClearKept {
  P p;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t part) const {
    clear_kept(p, warp, part);
  }
};

/// alpha times a row's sum and beta times the old element. Returns whether there is an entry.
template <class P, class T>
TCSOLVE_HD bool finish(P const& p, std::int64_t i, Sum<T>& sum) {
  bool const plus = p.semiring == Semiring::plus_times;
  if (plus && sum.any) sum.value = p.alpha * sum.value;
  if (p.with_old && p.old.has(i)) {
    T const before = p.old[i];
    if (!plus)
      sum(T(1), before);
    else
      sum.value = sum.any ? sum.value + p.beta * before : p.beta * before, sum.any = true;
  }
  return sum.any;
}

/// Rows of the c-th tile of y that may have entries, of the list or of all; beyond `count` of them,
/// the list of the old tiles is copied, since y's own is about to be written.
template <class M, class T>
struct SumTile {
  Product<M, T> p;
  Index count;
  bool listed;

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t c) const {
    if (c >= count) {
      warp.each([&](int lane) {
        std::int64_t const at = 32 * (c - count) + lane;
        if (at < p.old.tiles) p.old_list[at] = p.old.list[at];
      });
      return;
    }
    Index const tile = listed ? p.list[c] : static_cast<Index>(c);
    std::uint64_t bits = 0;
    for (int strip = 0; strip < p.strips(); ++strip)
      bits |= std::uint64_t{sum_strip(warp, std::int64_t{tile} * p.strips() + strip)}
              << (strip_rows * strip);
    warp.each([&](int lane) {
      if (p.met != nullptr && lane < p.strips()) put(p.met + tile * p.strips() + lane, 0);
      if (lane != 0) return;
      p.there[tile] = bits;
      if (bits != 0) p.keep(tile);
    });
  }

 private:
  /// Returns which rows of the strip are entries.
  template <class Warp>
  TCSOLVE_HD std::uint32_t sum_strip(Warp const& warp, std::int64_t strip) const {
    std::int64_t const first = strip * strip_rows;
    typename Warp::template Of<Sum<T>> sum;
    typename Warp::template Of<std::uint32_t> open;
    warp.each([&](int lane) {
      sum[lane] = Sum<T>{p.semiring};
      std::int64_t const i = first + lane;
      open[lane] =
          lane < strip_rows && i < p.rows && !(p.with_mask && p.mask.has(i) == p.complement);
    });
    std::uint32_t const rows = mask_of(warp, open);
    if (rows != 0 && p.sums == nullptr) gather_strip(warp, p.a, strip, p.x, sum);
    warp.each([&](int lane) {
      if (lane >= strip_rows) {
        open[lane] = 0;
        return;
      }
      std::int64_t const i = first + lane;
      T value = T(0);
      if (open[lane] != 0) {
        if (p.sums != nullptr) take_dense(i, sum[lane]);
        open[lane] = finish(p, i, sum[lane]);
        if (open[lane] != 0) value = sum[lane].value;
      }
      p.values[i] = value;
    });
    return mask_of(warp, open);
  }
  /// The sum of row i that a dense product has made, if the row meets an entry of x, as one that is
  /// not 0 has. One that is not finite may come from a column that x does not have.
  TCSOLVE_HD void take_dense(std::int64_t i, Sum<T>& sum) const {
    if (!is_finite(p.sums[i])) return gather_row(p.a, i, p.x, sum);
    if (p.sums[i] == T(0) && !meets(p.a, i, p.x)) return;
    sum.value = p.sums[i], sum.any = true;
  }
};

/// The counts come first, for which the host waits. Then part k of `parts_of_word` w: its tiles go
/// to their places; beyond all words, places of old tiles that are none any more. Bits of the first
/// step are cleared.
template <class P>
struct Place {
  static constexpr int parts_of_word = 4;
  static constexpr int tiles_of_part = 64 / parts_of_word;
  P p;
  Index marked;  ///< -1: as many as are kept

  TCSOLVE_HD static std::int64_t warps(P const& p) {
    return parts_of_word * p.words() + p.old_parts() + 1;
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t c) const {
    if (c == 0) {
      Index const all = kept_before(warp, p.words());
      return warp.each([&](int lane) {
        if (lane != 0) return;
        *p.count_of_list = 0;
        put_told(told_as(marked < 0 ? all : marked, all));
      });
    }
    std::int64_t const k = c - 1, w = k / parts_of_word, part = k % parts_of_word;
    if (w < p.words()) {
      warp.each([&](int lane) {
        if (lane != 0 || part != 0) return;
        p.marked[w] = 0;
        if (p.full != nullptr) p.full[w] = 0;
      });
      return place(warp, w, static_cast<int>(part) * tiles_of_part);
    }
    std::int64_t const old = k - parts_of_word * p.words();
    warp.each([&](int lane) {
      std::int64_t const at = 32 * old + lane;
      if (at >= p.old.tiles) return;
      Index const tile = p.old_list[at];
      if ((p.kept[tile / 64] >> (tile % 64) & 1) == 0) p.y_place[tile] = -1;
    });
  }

 private:
  /// The host may read it before the step has ended.
  TCSOLVE_HD void put_told(std::uint64_t counts) const {
    *static_cast<std::uint64_t volatile*>(p.told) = counts;
  }
  /// Tiles in words before w.
  template <class Warp>
  TCSOLVE_HD Index kept_before(Warp const& warp, std::int64_t w) const {
    std::int64_t const group = w / words_of_group;
    typename Warp::template Of<std::uint32_t> sum;
    warp.each([&](int lane) {
      sum[lane] = 0;
      for (std::int64_t g = lane; g < group; g += 32)
        sum[lane] += static_cast<std::uint32_t>(p.groups[g * counts_of_line]);
      for (std::int64_t v = words_of_group * group + lane; v < w; v += 32)
        sum[lane] += static_cast<std::uint32_t>(count_bits(p.kept[v]));
    });
    return static_cast<Index>(warp.sum(sum));
  }
  template <class Warp>
  TCSOLVE_HD void place(Warp const& warp, std::int64_t w, int first) const {
    std::uint64_t const word = p.kept[w];
    auto const bits = static_cast<std::uint32_t>(word >> first) & 0xffffu;
    if (bits == 0) return;
    Index const start = kept_before(warp, w) + count_bits(word & ((std::uint64_t{1} << first) - 1));
    std::int64_t const first_tile = 64 * w + first;
    int const side = p.side(), shift = lowest_bit(static_cast<std::uint32_t>(side));
    warp.each([&](int lane) {
      if (lane < tiles_of_part && (bits >> lane & 1) != 0) {
        Index const to = start + count_bits(bits & ((1u << lane) - 1));
        std::int64_t const tile = first_tile + lane;
        p.y_place[tile] = to;
        if (to < p.room) p.y_list[to] = static_cast<Index>(tile), p.y_there[to] = p.there[tile];
      }
      TCSOLVE_UNROLL
      for (int e = lane; e < tiles_of_part * side; e += 32) {
        int const tile = e >> shift;
        Index const to = start + count_bits(bits & ((1u << tile) - 1));
        if ((bits >> tile & 1) != 0 && to < p.room)
          p.y_values[std::int64_t{to} * side + (e & (side - 1))] = p.values[first_tile * side + e];
      }
    });
  }
};

template <class M, class T>
struct Multiply {
  Product<M, T> p;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    using P = Product<M, T>;
    auto count = static_cast<Index>(p.tiles());
    std::int64_t const clearing = (p.words() + 31) / 32;
    if (p.by_columns()) {
      steps.each_warp(p.x.tiles + (p.with_old ? p.old_parts() : 0) + clearing, Mark<P>{p});
      count = steps.value(p.count_of_list);
    } else {
      steps.each_warp(clearing, ClearKept<P>{p});
    }
    steps.each_warp(count + p.old_parts(), SumTile<M, T>{p, count, p.by_columns()});
    steps.each_warp(Place<P>::warps(p), Place<P>{p, count});
  }
};

/// Gives an array room for n, zeros at first.
template <class On, class A>
void grow(On& on, A& array, std::int64_t n) {
  if (array.size() >= static_cast<std::size_t>(n)) return;
  array = A(on.space(), static_cast<std::size_t>(n));
  on.clear(array.data(), n);
}

/// y's arrays of packed tiles with room for n.
template <class T, class P>
void make_room(Space space, std::int64_t n, SparseVectorArrays<T>& y, P& p) {
  auto const tiles = static_cast<std::size_t>(n);
  y.list = Array<Index>(space, tiles);
  y.there = Array<std::uint64_t>(space, tiles);
  y.values = Array<T>(space, tiles * static_cast<std::size_t>(p.side()));
  y.view.list = p.y_list = y.list.data();
  y.view.there = p.y_there = y.there.data();
  y.view.values = p.y_values = y.values.data();
  p.room = static_cast<Index>(n);
}

/// The word that tells the host: a device writes it to the host's memory itself, and the host goes
/// on as soon as it is there, while the last step still runs. What it submits then comes after.
template <class T>
std::uint64_t* told_word(Space space, SpmspvMemory<T>& memory) {
  if (space == Space::host) return &memory.told_on_host;
  if (!memory.told)
    memory.told.reset(static_cast<std::uint64_t*>(cuda::allocate_pinned(sizeof(std::uint64_t))));
  return memory.told.get();
}
/// step() tells it.
template <class On, class Step>
std::uint64_t told_by(On& on, std::uint64_t* word, Step const& step) {
  *word = not_told;
  step();
  if constexpr (requires { on.device; }) wait_for_word(on.device, word, not_told);
  return *word;
}

/// cooperate(p) runs the steps of a product p. `sums`: (rows) A x by a dense product, or null.
template <class T, class On, class M, class Cooperate>
SparseProductNotes multiply(On& on, M const& a, Index rows, TilesBelow const& below, T const* sums,
                            bool by_entries, SparseProduct<T> const& how,
                            SparseVectorView<T> const& x, SparseVectorArrays<T>& y,
                            SpmspvMemory<T>& memory, Cooperate const& cooperate) {
  std::int64_t const tiles = y.view.tile_count(), words = (tiles + 63) / 64;
  for (Array<std::uint64_t>* array : {&memory.marked, &memory.kept}) grow(on, *array, words);
  grow(on, memory.groups, (words + words_of_group - 1) / words_of_group * counts_of_line);
  for (Array<Index>* array : {&memory.list, &memory.old_list}) grow(on, *array, tiles);
  grow(on, memory.counts, 1);
  grow(on, memory.there, tiles);
  grow(on, memory.values, tiles * x.side);
  if (!memory.clean) {
    for (Array<std::uint64_t>* array : {&memory.marked, &memory.full})
      if (array->size() > 0) on.clear(array->data(), static_cast<std::int64_t>(array->size()));
    if (memory.met.size() > 0)
      on.clear(memory.met.data(), static_cast<std::int64_t>(memory.met.size()));
    on.clear(memory.counts.data(), 1);
  }
  memory.clean = false;
  Product<M, T> p{a,
                  rows,
                  x,
                  y.view,
                  how.mask != nullptr ? how.mask->view() : SparseVectorView<T>{},
                  how.beta != T(0),
                  how.mask != nullptr,
                  how.complement,
                  how.alpha,
                  how.beta,
                  how.semiring,
                  below,
                  sums,
                  memory.marked.data(),
                  by_entries ? memory.full.data() : nullptr,
                  by_entries ? memory.met.data() : nullptr,
                  memory.kept.data(),
                  memory.groups.data(),
                  memory.list.data(),
                  memory.old_list.data(),
                  memory.there.data(),
                  memory.values.data(),
                  memory.counts.data(),
                  told_word(on.space(), memory),
                  y.view,
                  static_cast<Index>(y.list.size()),
                  y.place.data(),
                  y.list.data(),
                  y.there.data(),
                  y.values.data()};
  std::uint64_t const told = told_by(on, p.told, [&] { cooperate(p); });
  memory.clean = true;
  auto const marked = static_cast<Index>(told >> 32), kept = static_cast<Index>(told & 0xffffffffu);
  if (kept > p.room) {
    // A quarter more, so that products which grow little by little do not come here each time.
    make_room(on.space(), std::min(tiles, std::int64_t{kept} + kept / 4), y, p);
    told_by(on, p.told, [&] {
      on.each_warp(Place<Product<M, T>>::warps(p), Place<Product<M, T>>{p, marked});
    });
  }
  y.view.tiles = kept;
  SpmspvWay const summed = by_entries                ? SpmspvWay::entries
                           : below.starts != nullptr ? SpmspvWay::columns
                                                     : SpmspvWay::rows;
  return {sums != nullptr ? SpmspvWay::dense : summed, marked, kept};
}
/// By rows, by columns where `below` is given, or dense.
template <class T, class On, class M>
SparseProductNotes multiply(On& on, M const& a, Index rows, TilesBelow const& below, T const* sums,
                            SparseProduct<T> const& how, SparseVectorView<T> const& x,
                            SparseVectorArrays<T>& y, SpmspvMemory<T>& memory) {
  return multiply<T>(on, a, rows, below, sums, false, how, x, y, memory,
                     [&](Product<M, T> const& p) { cooperate(on, Multiply<M, T>{p}); });
}

template <class T>
struct Subtract {
  SparseVectorView<T> y;
  Elements<T> r;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const k = e / y.side, l = e % y.side;
    if ((y.there[k] >> l & 1) == 0) return;
    T& at = r[std::int64_t{y.list[k]} * y.side + l];
    at -= y.values[e];
  }
};

}  // namespace tcsolve::spmspv
