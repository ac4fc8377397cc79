// SPDX-License-Identifier: Apache-2.0
/// Sparse vectors from and to their other forms, written once for both backends
/// (kernels/convert.hpp): tiles are marked, a scan places them, entries are written.
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/bits.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/kernels/warp_moves.hpp>
#include <tcsolve/sparse/sparse_vector.hpp>

namespace tcsolve::sparse {

/// place_J = the tile's place among those marked, or -1; list is its inverse.
struct PlaceTiles {
  Index const *marked, *before;
  Index *place, *list;
  TCSOLVE_HD void operator()(std::int64_t J) const {
    place[J] = marked[J] != 0 ? before[J] : -1;
    if (marked[J] != 0) list[before[J]] = static_cast<Index>(J);
  }
};

/// A vector whose tiles are those marked, (tile count + 1) with 0 at the end; no entries yet.
template <class T, class On>
SparseVectorArrays<T> with_tiles(On& on, Index rows, int side, Index const* marked) {
  SparseVectorArrays<T> made;
  made.view.rows = rows, made.view.side = side;
  std::int64_t const tiles = made.view.tile_count();
  auto* const before = on.template take<Index>(static_cast<std::size_t>(tiles) + 1);
  on.scan(marked, before, tiles + 1, Plus{});
  on.read(before + tiles, &made.view.tiles, 1);
  auto const packed = static_cast<std::size_t>(made.view.tiles);
  made.place = Array<Index>(on.space(), static_cast<std::size_t>(tiles));
  made.list = Array<Index>(on.space(), packed);
  made.there = Array<std::uint64_t>(on.space(), packed);
  made.values = Array<T>(on.space(), packed * static_cast<std::size_t>(side));
  on.each(tiles, PlaceTiles{marked, before, made.place.data(), made.list.data()});
  if (packed > 0) {
    on.clear(made.there.data(), made.view.tiles);
    on.clear(made.values.data(), std::int64_t{made.view.tiles} * side);
  }
  made.view.place = made.place.data(), made.view.list = made.list.data();
  made.view.there = made.there.data(), made.view.values = made.values.data();
  return made;
}

template <class On>
Index* unmarked(On& on, std::int64_t tiles) {
  auto* const marked = on.template take<Index>(static_cast<std::size_t>(tiles) + 1);
  on.clear(marked, tiles + 1);
  return marked;
}

struct MarkEntries {
  Index const* indices;
  int side;
  Index* marked;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index* const tile = marked + indices[k] / side;
    if (glance(tile) == 0) put(tile, 1);
  }
};
template <class T>
struct WriteEntries {
  Index const *indices, *place;
  T const* from;
  int side;
  std::uint64_t* there;
  T* values;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index const i = indices[k], at = place[i / side];
    atomic_or(there + at, std::uint64_t{1} << (i % side));
    values[std::int64_t{at} * side + i % side] = from[k];
  }
};
template <class On, class T>
SparseVectorArrays<T> from_sorted(On& on, Index rows, int side, Index const* indices,
                                  T const* values, Index count) {
  std::int64_t const tiles = (std::int64_t{rows} + side - 1) / side;
  Index* const marked = unmarked(on, tiles);
  on.each(count, MarkEntries{indices, side, marked});
  SparseVectorArrays<T> made = with_tiles<T>(on, rows, side, marked);
  on.each(count, WriteEntries<T>{indices, made.view.place, values, side, made.there.data(),
                                 made.values.data()});
  return made;
}

/// What a tile takes of a dense vector, or of bits: has(i), and the value.
template <class T>
struct DenseSource {
  Elements<T const> x;
  TCSOLVE_HD bool has(std::int64_t i) const { return !(x[i] == T(0)); }
  TCSOLVE_HD T operator[](std::int64_t i) const { return x[i]; }
};
template <class T>
struct BitSource {
  std::uint64_t const* words;
  TCSOLVE_HD bool has(std::int64_t i) const { return (words[i / 64] >> (i % 64) & 1) != 0; }
  TCSOLVE_HD T operator[](std::int64_t) const { return T(1); }
};

template <class Source>
struct MarkTiles {
  Source from;
  Index rows;
  int side;
  Index* marked;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index* const tile = marked + i / side;
    if (from.has(i) && glance(tile) == 0) put(tile, 1);
  }
};
template <class Source, class T>
struct WriteTile {
  Source from;
  Index rows;
  int side;
  Index const* list;
  std::uint64_t* there;
  T* values;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    std::int64_t const first = std::int64_t{list[k]} * side;
    std::uint64_t bits = 0;
    for (int r = 0; r < side && first + r < rows; ++r) {
      if (!from.has(first + r)) continue;
      bits |= std::uint64_t{1} << r;
      values[k * side + r] = from[first + r];
    }
    there[k] = bits;
  }
};
template <class T, class On, class Source>
SparseVectorArrays<T> from_source(On& on, Index rows, int side, Source const& from) {
  Index* const marked = unmarked(on, (std::int64_t{rows} + side - 1) / side);
  on.each(rows, MarkTiles<Source>{from, rows, side, marked});
  SparseVectorArrays<T> made = with_tiles<T>(on, rows, side, marked);
  on.each(made.view.tiles, WriteTile<Source, T>{from, rows, side, made.view.list, made.there.data(),
                                                made.values.data()});
  return made;
}

template <class T>
struct CountEntries {
  SparseVectorView<T> x;
  Index* count;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    count[k] = k < x.tiles ? count_bits(x.there[k]) : 0;
  }
};
/// Entries before each tile, and of all: (tiles + 1).
template <class On, class T>
Index* entries_before(On& on, SparseVectorView<T> const& x) {
  auto const tiles = static_cast<std::size_t>(x.tiles) + 1;
  auto* const count = on.template take<Index>(tiles);
  auto* const before = on.template take<Index>(tiles);
  on.each(std::int64_t{x.tiles} + 1, CountEntries<T>{x, count});
  on.scan(count, before, std::int64_t{x.tiles} + 1, Plus{});
  return before;
}
template <class On, class T>
Index count_entries(On& on, SparseVectorView<T> const& x) {
  Index entries = 0;
  on.read(entries_before(on, x) + x.tiles, &entries, 1);
  return entries;
}
template <class T>
struct ListTile {
  SparseVectorView<T> x;
  Index const* before;
  Index* indices;
  T* values;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index at = before[k];
    for (std::uint64_t left = x.there[k]; left != 0; left &= left - 1, ++at) {
      int const r = lowest_bit(left);
      indices[at] = x.list[k] * x.side + r;
      values[at] = x.values[k * x.side + r];
    }
  }
};
template <class On, class T>
void to_sorted(On& on, SparseVectorView<T> const& x, Index* indices, T* values) {
  on.each(x.tiles, ListTile<T>{x, entries_before(on, x), indices, values});
}

template <class T>
struct ToDense {
  SparseVectorView<T> x;
  Elements<T> to;
  TCSOLVE_HD void operator()(std::int64_t i) const { to[i] = x.has(i) ? x[i] : T(0); }
};
/// Elements 64 w, ..., 64 w + 63 of a vector that is dense already: which are entries, and the
/// tiles that they fill, each at its own place.
template <class T>
struct KeepNonzeros {
  SparseVectorView<T> mask;
  bool with_mask, complement;
  Index rows;
  int side;
  std::int64_t tiles;
  Index *place, *list;
  std::uint64_t* there;
  T* values;  ///< (tiles, side)
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint32_t> low, high;
    warp.each([&](int lane) {
      low[lane] = is_entry(64 * w + lane);
      high[lane] = is_entry(64 * w + 32 + lane);
    });
    std::uint64_t const bits = std::uint64_t{mask_of(warp, high)} << 32 | mask_of(warp, low);
    int const tiles_of_word = 64 / side;
    warp.each([&](int lane) {
      std::int64_t const tile = w * tiles_of_word + lane;
      if (lane >= tiles_of_word || tile >= tiles) return;
      place[tile] = list[tile] = static_cast<Index>(tile);
      there[tile] = side == 64 ? bits : bits >> (lane * side) & ((std::uint64_t{1} << side) - 1);
    });
  }

 private:
  /// One that is none becomes 0.
  TCSOLVE_HD bool is_entry(std::int64_t i) const {
    if (i >= tiles * side) return false;
    bool const open = i < rows && !(with_mask && mask.has(i) == complement);
    if (open) return !(values[i] == T(0));
    values[i] = T(0);
    return false;
  }
};
/// Of arrays of all tiles, the values written. `mask`: null, or of as many elements.
template <class On, class T>
void keep_nonzeros(On& on, SparseVectorArrays<T>& x, SparseVectorView<T> const* mask,
                   bool complement) {
  SparseVectorView<T>& view = x.view;
  on.each_warp((std::int64_t{view.rows} + 63) / 64,
               KeepNonzeros<T>{mask != nullptr ? *mask : SparseVectorView<T>{}, mask != nullptr,
                               complement, view.rows, view.side, view.tile_count(), x.place.data(),
                               x.list.data(), x.there.data(), x.values.data()});
  view.tiles = static_cast<Index>(view.tile_count());
}

template <class T>
struct ToBits {
  SparseVectorView<T> x;
  std::uint64_t* words;
  TCSOLVE_HD void operator()(std::int64_t w) const {
    std::uint64_t bits = 0;
    for (int first = 0; first < 64; first += x.side) {
      std::int64_t const tile = (64 * w + first) / x.side;
      if (tile >= x.tile_count() || x.place[tile] < 0) continue;
      bits |= x.there[x.place[tile]] << first;
    }
    words[w] = bits;
  }
};

}  // namespace tcsolve::sparse
