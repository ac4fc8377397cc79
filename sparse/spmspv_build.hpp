// SPDX-License-Identifier: Apache-2.0
/// Products of sparse vectors (sparse/spmspv.hpp), written once over kernels/steps.hpp for any
/// matrix that can gather a row:
///
///     gather(a, i, x, add)     add(a_ij, x_j) for each stored a_ij that meets an entry x_j
#pragma once

#include <algorithm>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/sparse_vector_build.hpp>
#include <tcsolve/sparse/spmspv.hpp>

namespace tcsolve::spmspv {

template <class S, class T, class Add>
TCSOLVE_HD void gather(CsrView<S> const& a, std::int64_t i, SparseVectorView<T> const& x,
                       Add& add) {
  for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
    if (Index const j = a.columns[k]; x.has(j)) add(T(a.values[k]), x[j]);
}

/// A row's sum as it grows.
template <class T>
struct Sum {
  Semiring semiring;
  T value = T(0);
  bool any = false;
  TCSOLVE_HD void operator()(T a, T x) {
    if (semiring == Semiring::plus_times)
      value += a * x;
    else if (semiring == Semiring::or_and)
      value = value != T(0) || (a != T(0) && x != T(0)) ? T(1) : T(0);
    else
      value = any && value < x ? value : x;
    any = true;
  }
};

/// The operands of a product and its memory.
template <class M, class T>
struct Product {
  M a;
  Index rows;
  SparseVectorView<T> x, old, mask;
  bool with_old, with_mask, complement;
  T alpha, beta;
  Semiring semiring;
  TilesBelow below;  ///< starts null: by rows
  Index *marked, *before, *list, *keep, *kept_before;
  std::uint64_t* there;
  std::uint8_t* present;
  T* values;
  Index* counts;

  TCSOLVE_HD int side() const { return x.side; }
  TCSOLVE_HD std::int64_t tiles() const { return (std::int64_t{rows} + x.side - 1) / x.side; }
};

template <class P>
struct Unmark {
  P p;
  TCSOLVE_HD void operator()(std::int64_t J) const { p.marked[J] = 0; }
};
/// Tile k of x marks what its tile columns have; beyond those, tiles of the old y.
template <class P>
struct MarkBelow {
  P p;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    if (k >= p.x.tiles) {
      warp.each([&](int lane) {
        std::int64_t const at = 32 * (k - p.x.tiles) + lane;
        if (at < p.old.tiles) put(p.marked + p.old.list[at], 1);
      });
      return;
    }
    // A tile of x has one tile column, two or four; `there` may leave some of them out.
    int const parts = p.side() / TilesBelow::side;
    for (int part = 0; part < parts; ++part) {
      std::uint64_t const bits = p.x.there[k] >> (16 * part) & 0xffffu;
      if (bits == 0) continue;
      std::int64_t const column = std::int64_t{p.x.list[k]} * parts + part;
      Index const begin = p.below.starts[column], end = p.below.starts[column + 1];
      warp.each([&](int lane) {
        for (Index b = begin + lane; b < end; b += 32) {
          Index* const tile = p.marked + p.below.rows[b] / parts;
          if (glance(tile) == 0) put(tile, 1);
        }
      });
    }
  }
};
template <class P>
struct ListMarked {
  P p;
  TCSOLVE_HD void operator()(std::int64_t J) const {
    if (J == p.tiles())
      p.counts[0] = p.before[J];
    else if (p.marked[J] != 0)
      p.list[p.before[J]] = static_cast<Index>(J);
  }
};
/// Element e % side of marked tile e / side.
template <class M, class T>
struct SumRow {
  Product<M, T> p;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const c = e / p.side();
    std::int64_t const i =
        std::int64_t{p.below.starts != nullptr ? p.list[c] : static_cast<Index>(c)} * p.side() +
        e % p.side();
    p.present[e] = 0, p.values[e] = T(0);
    if (i >= p.rows || (p.with_mask && p.mask.has(i) == p.complement)) return;
    Sum<T> sum{p.semiring};
    gather(p.a, i, p.x, sum);
    bool const plus = p.semiring == Semiring::plus_times;
    if (plus && sum.any) sum.value = p.alpha * sum.value;
    if (p.with_old && p.old.has(i)) {
      T const before = p.old[i];
      if (!plus)
        sum(T(1), before);
      else
        sum.value = sum.any ? sum.value + p.beta * before : p.beta * before, sum.any = true;
    }
    p.present[e] = sum.any, p.values[e] = sum.value;
  }
};
template <class P>
struct PackBits {
  P p;
  Index count;
  TCSOLVE_HD void operator()(std::int64_t c) const {
    if (c == count) {
      p.keep[c] = 0;
      return;
    }
    std::uint64_t bits = 0;
    for (int r = 0; r < p.side(); ++r) bits |= std::uint64_t{p.present[c * p.side() + r]} << r;
    p.there[c] = bits, p.keep[c] = bits != 0;
  }
};
template <class P>
struct CountKept {
  P p;
  Index count;
  TCSOLVE_HD void operator()(std::int64_t) const {
    p.counts[0] = count, p.counts[1] = p.kept_before[count];
  }
};

/// All but the last copy, which needs the number of tiles that are kept.
template <class M, class T>
struct Multiply {
  Product<M, T> p;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    auto count = static_cast<Index>(p.tiles());
    if (p.below.starts != nullptr) {
      steps.each(p.tiles() + 1, Unmark<Product<M, T>>{p});
      steps.each_warp(p.x.tiles + (p.with_old ? (p.old.tiles + 31) / 32 : 0),
                      MarkBelow<Product<M, T>>{p});
      steps.scan(p.marked, p.before, p.tiles() + 1);
      steps.each(p.tiles() + 1, ListMarked<Product<M, T>>{p});
      count = steps.value(p.counts);
    }
    steps.each(std::int64_t{count} * p.side(), SumRow<M, T>{p});
    steps.each(count + std::int64_t{1}, PackBits<Product<M, T>>{p, count});
    steps.scan(p.keep, p.kept_before, count + std::int64_t{1});
    steps.each(1, CountKept<Product<M, T>>{p, count});
  }
};

/// The tiles that are kept, as a sparse vector of their own.
template <class M, class T>
struct PlaceNone {
  Index* place;
  TCSOLVE_HD void operator()(std::int64_t J) const { place[J] = -1; }
};
template <class M, class T>
struct TakeKept {
  Product<M, T> p;
  Index *place, *list;
  std::uint64_t* there;
  T* values;
  TCSOLVE_HD void operator()(std::int64_t e) const {
    std::int64_t const c = e / p.side(), r = e % p.side();
    if (p.keep[c] == 0) return;
    std::int64_t const to = p.kept_before[c];
    values[to * p.side() + r] = p.values[e];
    if (r != 0) return;
    Index const J = p.below.starts != nullptr ? p.list[c] : static_cast<Index>(c);
    place[J] = static_cast<Index>(to), list[to] = J, there[to] = p.there[c];
  }
};

/// Gives an array room for n.
template <class A>
void grow(A& array, Space space, std::int64_t n) {
  if (array.size() < static_cast<std::size_t>(n)) array = A(space, static_cast<std::size_t>(n));
}

template <class T, class On, class M>
SparseProductNotes multiply(On& on, M const& a, Index rows, TilesBelow const& below,
                            SparseProduct<T> const& how, SparseVectorView<T> const& x,
                            SparseVectorArrays<T>& y, SpmspvMemory<T>& memory) {
  std::int64_t const tiles = (std::int64_t{rows} + x.side - 1) / x.side;
  Space const space = on.space();
  grow(memory.counts, space, 2);
  for (Array<Index>* array :
       {&memory.marked, &memory.before, &memory.list, &memory.keep, &memory.kept_before})
    grow(*array, space, tiles + 1);
  grow(memory.there, space, tiles);
  grow(memory.present, space, tiles * x.side);
  grow(memory.values, space, tiles * x.side);
  Product<M, T> const p{a,
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
                        memory.marked.data(),
                        memory.before.data(),
                        memory.list.data(),
                        memory.keep.data(),
                        memory.kept_before.data(),
                        memory.there.data(),
                        memory.present.data(),
                        memory.values.data(),
                        memory.counts.data()};
  cooperate(on, Multiply<M, T>{p});
  Index counts[2];
  on.read(memory.counts.data(), counts, 2);
  SparseVectorArrays<T> made;
  auto const kept = static_cast<std::size_t>(counts[1]);
  made.place = Array<Index>(space, static_cast<std::size_t>(tiles));
  made.list = Array<Index>(space, kept);
  made.there = Array<std::uint64_t>(space, kept);
  made.values = Array<T>(space, kept * static_cast<std::size_t>(x.side));
  made.view = {rows,
               counts[1],
               x.side,
               made.place.data(),
               made.list.data(),
               made.there.data(),
               made.values.data()};
  on.each(tiles, PlaceNone<M, T>{made.place.data()});
  on.each(std::int64_t{counts[0]} * x.side, TakeKept<M, T>{p, made.place.data(), made.list.data(),
                                                           made.there.data(), made.values.data()});
  y = std::move(made);
  return {below.starts != nullptr ? SpmspvWay::columns : SpmspvWay::rows, counts[0], counts[1]};
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
