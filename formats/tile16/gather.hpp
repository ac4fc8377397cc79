// SPDX-License-Identifier: Apache-2.0
/// A tile row against a sparse vector (sparse/spmspv_gather.hpp): Algorithm 4 of Ji et al. 2022. A
/// lane looks whether its tile meets x; the entries of those that do are then taken 32 at a time,
/// as if they lay one behind the other:
///
///     tile            0   1   2   3
///     entries         5   9   .   4       . does not meet x
///     entries before  0   5  14  14       entry 15 of them is number 1 of tile 3
#pragma once

#include <tcsolve/formats/tile16/lines.hpp>
#include <tcsolve/sparse/spmspv_gather.hpp>

namespace tcsolve::spmspv {

template <class Warp, class S, class T>
TCSOLVE_HD void gather_strip(Warp const& warp, Tile16View<S> const& a, std::int64_t strip,
                             SparseVectorView<T> const& x,
                             typename Warp::template Of<Sum<T>>& sum) {
  constexpr int side = Tile16View<S>::side;
  constexpr int depth = 4;  // entries that a lane has on their way at once
  static_assert(side == strip_rows);
  int const parts = x.side / side;
  std::uint32_t const end = a.start[strip + 1];
  for (std::uint32_t base = a.start[strip]; base < end; base += 32) {
    // Of a lane's tile: where its entries and its part of x begin, which of these are entries.
    typename Warp::template Of<std::uint32_t> first, there, before;
    typename Warp::template Of<Index> from;
    warp.each([&](int lane) {
      std::uint32_t const t = base + static_cast<std::uint32_t>(lane);
      Index const column = t < end ? a.column[t] : 0;
      std::uint32_t const begin = t < end ? a.first[t] : 0, past = t < end ? a.first[t + 1] : 0;
      Index const at = t < end ? x.place[column / parts] : -1;
      int const shift = column % parts * side;
      there[lane] = at >= 0 ? static_cast<std::uint32_t>(x.there[at] >> shift) & 0xffffu : 0;
      from[lane] = at * x.side + shift;
      first[lane] = begin;
      before[lane] = there[lane] != 0 ? past - begin : 0;
    });
    std::uint32_t const total = sums_before(warp, before);
    for (std::uint32_t v0 = 0; v0 < total; v0 += 32 * depth) {
      Met<Warp, T> met[depth];
      typename Warp::template Of<std::uint32_t> bits[depth];
      typename Warp::template Of<Index> start[depth];
      typename Warp::template Of<std::uint8_t> place[depth];
      TCSOLVE_UNROLL
      for (int d = 0; d < depth; ++d) {
        auto const owner = owners(warp, before, v0 + 32 * d);
        auto const entry = taken_from(warp, first, owner);
        auto const skipped = taken_from(warp, before, owner);
        bits[d] = taken_from(warp, there, owner);
        start[d] = taken_from(warp, from, owner);
        warp.each([&](int lane) {
          std::uint32_t const v = v0 + 32 * d + static_cast<std::uint32_t>(lane);
          std::uint32_t const k = entry[lane] + v - skipped[lane];
          if (v >= total) bits[d][lane] = 0;
          place[d][lane] = v < total ? a.places[k] : std::uint8_t{0};
          met[d].a[lane] = v < total ? T(a.values[k]) : T(0);
        });
      }
      TCSOLVE_UNROLL
      for (int d = 0; d < depth; ++d)
        warp.each([&](int lane) {
          int const c = place[d][lane] & 15;
          bool const has = (bits[d][lane] >> c & 1) != 0;
          met[d].row[lane] = has ? place[d][lane] >> 4 : Met<Warp, T>::none;
          met[d].x[lane] = has ? x.values[start[d][lane] + c] : T(0);
        });
      TCSOLVE_UNROLL
      for (int d = 0; d < depth; ++d) add_in_order(warp, met[d], sum);
    }
  }
  if (a.rest_start == nullptr) return;
  std::int64_t const first_row = strip * strip_rows;
  std::uint32_t const begin = a.rest_start[first_row];
  auto const entries_before = [&](std::int64_t i) {
    return a.rest_start[i < a.rows ? i : std::int64_t{a.rows}] - begin;
  };
  std::uint32_t const count = entries_before(first_row + strip_rows);
  typename Warp::template Of<std::uint32_t> start;
  warp.each([&](int lane) {
    start[lane] = lane < strip_rows ? entries_before(first_row + lane) : count;
  });
  gather_entries(warp, a.rest_columns + begin, a.rest_values + begin, count, start, x, sum);
}

/// entry(a_ij, j) for each that meets an entry x_j, until it returns false.
template <class S, class T, class Entry>
TCSOLVE_HD void walk_met(Tile16View<S> const& a, std::int64_t i, SparseVectorView<T> const& x,
                         Entry& entry) {
  constexpr int side = Tile16View<S>::side;
  std::uint32_t const end = a.start[i / side + 1];
  for (std::uint32_t t = a.start[i / side]; t < end; ++t) {
    Tile16Row const row = row_of(a, t, static_cast<int>(i % side));
    for (std::uint32_t k = row.begin; k < row.end; ++k)
      if (Index const j = a.column[t] * side + (a.places[k] & 15); x.has(j))
        if (!entry(a.values[k], j)) return;
  }
  if (a.rest_start == nullptr) return;
  for (std::uint32_t k = a.rest_start[i]; k < a.rest_start[i + 1]; ++k)
    if (Index const j = a.rest_columns[k]; x.has(j))
      if (!entry(a.rest_values[k], j)) return;
}
template <class S, class T>
TCSOLVE_HD void gather_row(Tile16View<S> const& a, std::int64_t i, SparseVectorView<T> const& x,
                           Sum<T>& sum) {
  struct Add {
    SparseVectorView<T> const& x;
    Sum<T>& sum;
    TCSOLVE_HD bool operator()(S v, Index j) {
      sum(T(v), x[j]);
      return true;
    }
  } add{x, sum};
  walk_met(a, i, x, add);
}
template <class S, class T>
TCSOLVE_HD bool meets(Tile16View<S> const& a, std::int64_t i, SparseVectorView<T> const& x) {
  struct Find {
    bool found = false;
    TCSOLVE_HD bool operator()(S, Index) {
      found = true;
      return false;
    }
  } find;
  walk_met(a, i, x, find);
  return find.found;
}

}  // namespace tcsolve::spmspv
