// SPDX-License-Identifier: Apache-2.0
/// 16 rows of a matrix against a sparse vector, for the products of sparse/spmspv_build.hpp. A
/// matrix has three functions, here those of CSR:
///
///     gather_strip(warp, a, I, x, sum)   sum_r(a_ij, x_j) for i = 16 I + r, r < 16, and each stored
///                                        a_ij that meets an entry x_j, in the order of storage
///     gather_row(a, i, x, sum)           the same of one row by one thread
///     meets(a, i, x)                     whether there is such an a_ij
///
/// A warp takes 32 entries at a time, a lane one, whatever rows they belong to; what meets x is
/// then added by the lane of its row:
///
///     lane      0  1  2  3  4  5  6  7       row 0 takes lanes 0 and 2, row 1 lane 4, row 2 lane 6
///     row       0  0  0  1  1  2  2  2       and lane 7: each adds its first, then its next, ...
///     meets x   *  .  *  .  *  .  *  *
///
/// Loads are those of many entries at once, and a row is added one entry after the other: the bits
/// of a loop over the row.
#pragma once

#include <tcsolve/kernels/bits.hpp>
#include <tcsolve/kernels/warp_moves.hpp>
#include <tcsolve/sparse/spmspv.hpp>

namespace tcsolve::spmspv {

constexpr int strip_rows = 16;

/// A row's sum as it grows.
template <class T>
struct Sum {
  Semiring semiring = Semiring::plus_times;
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

/// An entry of each lane: its row in the strip, a_ij and x_j; row `none` where x_j is no entry.
template <class Warp, class T>
struct Met {
  static constexpr std::uint32_t none = strip_rows;
  typename Warp::template Of<std::uint32_t> row;
  typename Warp::template Of<T> a, x;
};

/// Lane r adds what belongs to row r, in the order of the lanes: the host one lane after the other,
/// a device all rows at a time, each its first, then its next.
template <class Warp, class T>
TCSOLVE_HD void add_in_order(Warp const& warp, Met<Warp, T> const& met,
                             typename Warp::template Of<Sum<T>>& sum) {
#if defined(__CUDA_ARCH__)
  typename Warp::template Of<std::uint32_t> bit, mine, from;
  warp.each([&](int lane) { bit[lane] = met.row[lane] < strip_rows; });
  std::uint32_t const all = mask_of(warp, bit);
  if (all == 0) return;
  warp.each([&](int lane) { mine[lane] = lane < strip_rows ? all : 0; });
  TCSOLVE_UNROLL
  for (int b = 0; b < 4; ++b) {
    warp.each([&](int lane) { bit[lane] = met.row[lane] >> b & 1; });
    std::uint32_t const set = mask_of(warp, bit);
    warp.each([&](int lane) { mine[lane] &= (lane >> b & 1) != 0 ? set : ~set; });
  }
  while (mask_of(warp, mine) != 0) {
    warp.each([&](int lane) {
      from[lane] = mine[lane] != 0 ? static_cast<std::uint32_t>(lowest_bit(mine[lane])) : 0;
    });
    auto const a = taken_from(warp, met.a, from);
    auto const x = taken_from(warp, met.x, from);
    warp.each([&](int lane) {
      if (mine[lane] == 0) return;
      sum[lane](a[lane], x[lane]);
      mine[lane] &= mine[lane] - 1;
    });
  }
#else
  warp.each([&](int lane) {
    if (std::uint32_t const row = met.row[lane]; row < strip_rows)
      sum[row](met.a[lane], met.x[lane]);
  });
#endif
}

/// x_j of a lane's column j, by 32-bit steps: where its tile lies, whether it is an entry.
template <class T>
struct Look {
  SparseVectorView<T> x;
  int shift;
  TCSOLVE_HD explicit Look(SparseVectorView<T> const& of)
      : x(of), shift(lowest_bit(static_cast<std::uint32_t>(of.side))) {}
  TCSOLVE_HD Index place(Index j) const { return x.place[j >> shift]; }
  TCSOLVE_HD bool has(Index j, Index at) const {
    return at >= 0 && (x.there[at] >> (j & (x.side - 1)) & 1) != 0;
  }
  TCSOLVE_HD T value(Index j, Index at) const {
    return x.values[(std::int64_t{at} << shift) + (j & (x.side - 1))];
  }
};

/// Entries columns_k, values_k, k < count, of 16 rows one after the other; `start`, of lane r, is
/// where row r begins among them, of lanes beyond 15 `count`.
template <class Warp, class S, class T>
TCSOLVE_HD void gather_entries(Warp const& warp, Index const* columns, S const* values,
                               std::uint32_t count,
                               typename Warp::template Of<std::uint32_t> const& start,
                               SparseVectorView<T> const& x,
                               typename Warp::template Of<Sum<T>>& sum) {
  constexpr int ahead = 8;  // columns that a lane has on their way at once
  Look<T> const look(x);
  for (std::uint32_t first = 0; first < count; first += 32 * ahead) {
    typename Warp::template Of<Index> column[ahead], place[ahead];
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        std::uint32_t const k = first + 32 * d + static_cast<std::uint32_t>(lane);
        column[d][lane] = k < count ? columns[k] : -1;
      });
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        place[d][lane] = column[d][lane] >= 0 ? look.place(column[d][lane]) : -1;
      });
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d) {
      typename Warp::template Of<std::uint32_t> there;
      warp.each([&](int lane) { there[lane] = place[d][lane] >= 0; });
      if (mask_of(warp, there) == 0) continue;
      Met<Warp, T> met;
      warp.each([&](int lane) {
        std::uint32_t const k = first + 32 * d + static_cast<std::uint32_t>(lane);
        bool const has = look.has(column[d][lane], place[d][lane]);
        there[lane] = has;
        met.a[lane] = has ? T(values[k]) : T(0);
        met.x[lane] = has ? look.value(column[d][lane], place[d][lane]) : T(0);
      });
      if (mask_of(warp, there) == 0) continue;
      met.row = owners(warp, start, first + 32 * d);
      warp.each([&](int lane) {
        if (there[lane] == 0) met.row[lane] = Met<Warp, T>::none;
      });
      add_in_order(warp, met, sum);
    }
  }
}

template <class Warp, class S, class T>
TCSOLVE_HD void gather_strip(Warp const& warp, CsrView<S> const& a, std::int64_t strip,
                             SparseVectorView<T> const& x,
                             typename Warp::template Of<Sum<T>>& sum) {
  std::int64_t const first = strip * strip_rows;
  Offset const begin = a.offsets[first];
  auto const entries_before = [&](std::int64_t i) {
    return static_cast<std::uint32_t>(a.offsets[i < a.rows ? i : std::int64_t{a.rows}] - begin);
  };
  std::uint32_t const count = entries_before(first + strip_rows);
  typename Warp::template Of<std::uint32_t> start;
  warp.each(
      [&](int lane) { start[lane] = lane < strip_rows ? entries_before(first + lane) : count; });
  gather_entries(warp, a.columns + begin, a.values + begin, count, start, x, sum);
}
template <class S, class T>
TCSOLVE_HD void gather_row(CsrView<S> const& a, std::int64_t i, SparseVectorView<T> const& x,
                           Sum<T>& sum) {
  for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
    if (Index const j = a.columns[k]; x.has(j)) sum(T(a.values[k]), x[j]);
}
template <class S, class T>
TCSOLVE_HD bool meets(CsrView<S> const& a, std::int64_t i, SparseVectorView<T> const& x) {
  for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
    if (x.has(a.columns[k])) return true;
  return false;
}

}  // namespace tcsolve::spmspv
