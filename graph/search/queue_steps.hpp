// SPDX-License-Identifier: Apache-2.0
/// The steps of a level whose frontier is a queue (graph/search/level_search.hpp): rows of its
/// vertices are read, and what was not met goes to the end of the next queue, in any order.
#pragma once

#include <tcsolve/graph/search/level_search.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/kernels/warp_moves.hpp>

namespace tcsolve::searching {

constexpr std::uint32_t nothing = ~std::uint32_t{0};

/// Visits the edges [begin, end) of v: vertices that were not met go to the end of a queue.
template <class W, class Warp>
TCSOLVE_HD void expand(Warp const& warp, LevelSearch<W> const& s, Index v, Offset begin, Offset end,
                       Index now, Index* to, LevelRecord* record) {
  for (Offset first = begin; first < end; first += 32) {
    typename Warp::template Of<std::uint32_t> fresh, at;
    warp.each([&](int lane) {
      fresh[lane] = 0;
      if (first + lane >= end) return;
      Index const w = s.out.columns[first + lane];
      Index seen = glance(s.level + w);
      if (seen == s.not_met) {
        seen = atomic_replace(s.level + w, s.not_met, now);
        fresh[lane] = seen == s.not_met;
      }
      if (s.parent != nullptr && (fresh[lane] != 0 || seen == now)) lower_to(s.parent + w, v);
      if (fresh[lane] != 0 && s.wanted != nullptr && s.wanted[w] != 0) put(&record->wanted, 1);
    });
    auto rank = fresh;
    auto const found = static_cast<Index>(warp.rank(rank));
    if (found == 0) continue;
    warp.each([&](int lane) {
      at[lane] =
          lane == 0 ? static_cast<std::uint32_t>(atomic_add(&record->found, found)) : nothing;
    });
    std::uint32_t const start = warp.least(at);
    warp.each([&](int lane) {
      if (fresh[lane] != 0) to[start + rank[lane]] = s.out.columns[first + lane];
    });
  }
}
template <class W>
struct Expand {
  LevelSearch<W> s;
  Index now;  ///< the level that is found
  LevelRecord* record;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const v = s.queue_at(now - 1)[i];
    Offset const begin = s.out.offsets[v], end = s.out.offsets[v + 1];
    if (end - begin <= s.long_row) {
      expand(warp, s, v, begin, end, now, s.queue_at(now), record);
      return;
    }
    warp.each([&](int lane) {
      if (lane == 0) s.long_rows[atomic_add(&record->long_rows, 1)] = v;
    });
  }
};
/// `together` vertices of the queue for a warp, which takes their edges as if they lay one behind
/// the other: few edges of a vertex leave no lanes idle, and the end of the queue, one word for all
/// warps, moves once for all that a warp has found. A wide frontier gives all warps work so.
template <class W>
struct ExpandSeveral {
  static constexpr int together = 4;
  static constexpr int ahead = 4;  ///< edges that a lane has on their way at once
  LevelSearch<W> s;
  Index now, count;  ///< the level that is found, vertices of the frontier
  LevelRecord* record;

  TCSOLVE_HD std::int64_t warps() const { return (std::int64_t{count} + together - 1) / together; }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    typename Warp::template Of<Index> vertex;
    typename Warp::template Of<Offset> begin;
    typename Warp::template Of<std::uint32_t> start;  // edges of those before
    warp.each([&](int lane) {
      std::int64_t const at = together * i + lane;
      vertex[lane] = 0, begin[lane] = 0, start[lane] = 0;
      if (lane >= together || at >= count) return;
      Index const v = s.queue_at(now - 1)[at];
      Offset const first = s.out.offsets[v], edges = s.out.offsets[v + 1] - first;
      if (edges > s.long_row) {
        s.long_rows[atomic_add(&record->long_rows, 1)] = v;
        return;
      }
      vertex[lane] = v, begin[lane] = first, start[lane] = static_cast<std::uint32_t>(edges);
    });
    std::uint32_t const edges = sums_before(warp, start);
    for (std::uint32_t first = 0; first < edges; first += 32 * ahead)
      visit(warp, first, edges, start, begin, vertex);
  }

 private:
  /// Edges first, ..., first + 32 ahead - 1 of the warp's.
  template <class Warp>
  TCSOLVE_HD void visit(Warp const& warp, std::uint32_t first, std::uint32_t edges,
                        typename Warp::template Of<std::uint32_t> const& start,
                        typename Warp::template Of<Offset> const& begin,
                        typename Warp::template Of<Index> const& vertex) const {
    typename Warp::template Of<Index> from[ahead], to[ahead], seen[ahead];
    typename Warp::template Of<std::uint32_t> fresh, at;
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d) {
      auto const owner = owners(warp, start, first + 32 * d);
      auto const its_begin = taken_from(warp, begin, owner);
      auto const its_start = taken_from(warp, start, owner);
      from[d] = taken_from(warp, vertex, owner);
      warp.each([&](int lane) {
        std::uint32_t const e = first + 32 * d + static_cast<std::uint32_t>(lane);
        to[d][lane] = e < edges ? s.out.columns[its_begin[lane] + (e - its_start[lane])] : -1;
      });
    }
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        seen[d][lane] = to[d][lane] >= 0 ? glance(s.level + to[d][lane]) : s.closed;
      });
    warp.each([&](int lane) { fresh[lane] = 0; });
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        Index const w = to[d][lane];
        if (seen[d][lane] == s.not_met)
          seen[d][lane] = atomic_replace(s.level + w, s.not_met, now);
        else
          to[d][lane] = seen[d][lane] == now ? w : -1;
        bool const mine = seen[d][lane] == s.not_met;
        if (s.parent != nullptr && to[d][lane] >= 0 && (mine || seen[d][lane] == now))
          lower_to(s.parent + w, from[d][lane]);
        if (mine && s.wanted != nullptr && s.wanted[w] != 0) put(&record->wanted, 1);
        if (!mine) to[d][lane] = -1;
        fresh[lane] += mine;
      });
    std::uint32_t const found = sums_before(warp, fresh);
    if (found == 0) return;
    warp.each([&](int lane) {
      at[lane] =
          lane == 0
              ? static_cast<std::uint32_t>(atomic_add(&record->found, static_cast<Index>(found)))
              : nothing;
    });
    std::uint32_t const queue_end = warp.least(at);
    TCSOLVE_UNROLL
    for (int d = 0; d < ahead; ++d)
      warp.each([&](int lane) {
        if (to[d][lane] >= 0) s.queue_at(now)[queue_end + fresh[lane]++] = to[d][lane];
      });
  }
};
/// Piece i % pieces of a long row.
template <class W>
struct ExpandLong {
  LevelSearch<W> s;
  Index now;
  LevelRecord* record;
  Offset pieces;  ///< of the longest row
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    Index const v = s.long_rows[i / pieces];
    Offset const begin = s.out.offsets[v] + i % pieces * s.long_row, all = s.out.offsets[v + 1];
    Offset const end = begin + s.long_row < all ? begin + s.long_row : all;
    expand(warp, s, v, begin, end, now, s.queue_at(now), record);
  }
};

}  // namespace tcsolve::searching
