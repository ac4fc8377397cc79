// SPDX-License-Identifier: Apache-2.0
/// The steps of a search by levels (graph/search/level_search.hpp), written once over
/// kernels/steps.hpp. A level by the queue is one step, any other two.
#pragma once

#include <limits>

#include <tcsolve/graph/search/queue_steps.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/bits.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::searching {

constexpr Index no_parent = std::numeric_limits<Index>::max();

template <class W>
struct Forget {
  LevelSearch<W> s;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    if (v <= s.most) s.records[v] = {};
    if (v >= s.out.rows) return;
    bool const open = s.may_enter == nullptr || s.may_enter[v] != 0;
    s.level[v] = open ? s.not_met : s.closed;
    if (s.parent != nullptr) s.parent[v] = no_parent;
  }
};
template <class W>
struct ForgetRecords {
  LevelSearch<W> s;
  TCSOLVE_HD void operator()(std::int64_t k) const { s.records[k + 1] = {}; }
};
/// A closed source is reached and left by no edge.
template <class W>
struct Begin {
  LevelSearch<W> s;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index const v = s.sources[i];
    if (s.level[v] == s.not_met) s.queue_at(0)[atomic_add(&s.records->found, 1)] = v;
    s.level[v] = 0;
    if (s.wanted != nullptr && s.wanted[v] != 0) put(&s.records->wanted, 1);
  }
};

// ---- the frontier as bits ----

/// A word of a bit of each lane's rows.
template <class W, class Warp, class F>
TCSOLVE_HD W word_of(Warp const& warp, F const& bit) {
  W word = 0;
  for (int r = 0; r < BitTiles<W>::side / 32; ++r) {
    typename Warp::template Of<std::uint32_t> part;
    warp.each([&](int lane) { part[lane] = std::uint32_t(bit(lane, r)) << lane; });
    word |= static_cast<W>(static_cast<std::uint32_t>(warp.sum(part))) << (32 * r);
  }
  return word;
}

/// What is visited, and the frontier, from the levels. Bits beyond the last vertex are visited.
template <class W>
struct Mark {
  LevelSearch<W> s;
  Index now;  ///< level of the frontier
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t J) const {
    auto const level = [&](int lane, int r) {
      std::int64_t const v = J * s.side() + lane + 32 * r;
      return v < s.out.rows ? s.level[v] : s.closed;
    };
    W const visited =
        word_of<W>(warp, [&](int lane, int r) { return level(lane, r) != s.not_met; });
    W const front = word_of<W>(warp, [&](int lane, int r) {
      std::int64_t const v = J * s.side() + lane + 32 * r;
      return level(lane, r) == now && (s.may_enter == nullptr || s.may_enter[v] != 0);
    });
    warp.each([&](int lane) {
      if (lane == 0) s.visited[J] = visited, s.frontier_at(now)[J] = front, s.next[J] = 0;
    });
  }
};
template <class W>
struct Collect {
  LevelSearch<W> s;
  Index now;
  LevelRecord* record;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t J) const {
    W const front = s.frontier_at(now)[J];
    if (front == 0) return;
    typename Warp::template Of<std::uint32_t> at;
    warp.each([&](int lane) {
      at[lane] = lane == 0
                     ? static_cast<std::uint32_t>(atomic_add(&record->collected, count_bits(front)))
                     : nothing;
    });
    std::uint32_t const start = warp.least(at);
    warp.each([&](int lane) {
      for (int b = lane; b < s.side(); b += 32)
        if ((front >> b & 1) != 0)
          s.queue_at(now)[start + count_bits(front & ((W{1} << b) - 1))] =
              static_cast<Index>(J * s.side() + b);
    });
  }
};

/// Of a tile row's frontier vertices: what their words lead to, and their edges in no tile.
template <class W, class Warp>
TCSOLVE_HD void push_rest(Warp const& warp, LevelSearch<W> const& s, std::int64_t V, W front) {
  if (s.out_tiles.rest.entries == 0) return;
  for (W left = front; left != 0; left &= left - 1) {
    std::int64_t const v = V * s.side() + lowest_bit(left);
    Offset const begin = s.out_tiles.rest.offsets[v], end = s.out_tiles.rest.offsets[v + 1];
    warp.each([&](int lane) {
      for (Offset k = begin + lane; k < end; k += 32) {
        Index const w = s.out_tiles.rest.columns[k];
        W const bit = W{1} << (w % s.side());
        if (((s.visited[w / s.side()] | glance_bits(s.next + w / s.side())) & bit) == 0)
          atomic_or(s.next + w / s.side(), bit);
      }
    });
  }
}
template <class W>
struct PushColumns {
  LevelSearch<W> s;
  Index now;  ///< level of the frontier
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t V) const {
    W const front = s.frontier_at(now)[V];
    if (front == 0) return;
    BitTiles<W> const& tiles = s.out_tiles;
    std::int64_t const begin = tiles.starts[V], end = tiles.starts[V + 1];
    warp.each([&](int lane) {
      for (std::int64_t t = begin + lane; t < end; t += 32) {
        W joined = 0;
        for (W left = front; left != 0; left &= left - 1)
          joined |= tiles.words[t * s.side() + lowest_bit(left)];
        Index const to = tiles.columns[t];
        joined &= ~s.visited[to];
        if (joined != 0) atomic_or(s.next + to, joined);
      }
    });
    push_rest(warp, s, V, front);
  }
};
/// Slice i of the tiles, then the frontier's edges in none.
template <class W>
struct PushRows {
  LevelSearch<W> s;
  Index now;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    BitTiles<W> const& tiles = s.in_tiles;
    if (i >= tiles.slices) {
      std::int64_t const V = i - tiles.slices;
      if (W const front = s.frontier_at(now)[V]; front != 0) push_rest(warp, s, V, front);
      return;
    }
    Index const row = tiles.slice_row[i];
    W const open = ~s.visited[row];
    if (open == 0) return;
    std::int64_t const begin = tiles.slice_begin[i], all = tiles.starts[row + 1];
    std::int64_t const end = begin + 32 < all ? begin + 32 : all;
    typename Warp::template Of<std::uint32_t> hit;
    warp.each([&](int lane) { hit[lane] = 0; });
    for (std::int64_t t = begin; t < end; ++t) {
      W const front = s.frontier_at(now)[tiles.columns[t]];
      if (front == 0) continue;
      warp.each([&](int lane) {
        for (int r = 0; r < s.side() / 32; ++r)
          if ((tiles.words[t * s.side() + lane + 32 * r] & front) != 0) hit[lane] |= 1u << r;
      });
    }
    W const found =
        open & word_of<W>(warp, [&](int lane, int r) { return (hit[lane] >> r & 1) != 0; });
    warp.each([&](int lane) {
      if (lane == 0 && found != 0) atomic_or(s.next + row, found);
    });
  }
};

/// 32 vertices look for their least neighbour in the frontier: a lane each for a start, then the
/// warp for those whose lists are long.
template <class W>
struct Pull {
  LevelSearch<W> s;
  Index now;   ///< level of the frontier
  bool found;  ///< false: of vertices that are not reached, which are found so
               ///< true: the parents of those that another way has found
  static constexpr Offset glimpse = 32;

  TCSOLVE_HD std::uint32_t in_tile(std::int64_t t, std::int64_t w) const {
    W const met =
        s.in_tiles.words[t * s.side() + w % s.side()] & s.frontier_at(now)[s.in_tiles.columns[t]];
    if (met == 0) return nothing;
    return static_cast<std::uint32_t>(s.in_tiles.columns[t] * s.side() + lowest_bit(met));
  }
  TCSOLVE_HD std::uint32_t in_rest(Offset k) const {
    Index const u = s.in_tiles.rest.columns[k];
    return (s.frontier_at(now)[u / s.side()] >> (u % s.side()) & 1) != 0
               ? static_cast<std::uint32_t>(u)
               : nothing;
  }
  /// The first of [begin, end) that is met.
  template <class F>
  TCSOLVE_HD static std::uint32_t first_of(Offset begin, Offset end, F const& look) {
    for (Offset k = begin; k < end; ++k)
      if (std::uint32_t const u = look(k); u != nothing) return u;
    return nothing;
  }
  template <class Warp, class F>
  TCSOLVE_HD static std::uint32_t first_of_warp(Warp const& warp, Offset begin, Offset end,
                                                F const& look) {
    for (Offset first = begin; first < end; first += 32) {
      typename Warp::template Of<std::uint32_t> met;
      warp.each([&](int lane) { met[lane] = first + lane < end ? look(first + lane) : nothing; });
      if (std::uint32_t const u = warp.least(met); u != nothing) return u;
    }
    return nothing;
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    std::int64_t const base = 32 * i, J = base / s.side();
    int const shift = static_cast<int>(base % s.side());
    auto const looking =
        static_cast<std::uint32_t>((found ? s.frontier_at(now + 1)[J] : ~s.visited[J]) >> shift);
    if (looking == 0) return;
    BitTiles<W> const& tiles = s.in_tiles;
    bool const least = s.parent != nullptr;
    Offset const tiles_begin = tiles.starts[J], tiles_end = tiles.starts[J + 1];
    Offset const tiles_glimpse =
        tiles_begin + glimpse < tiles_end ? tiles_begin + glimpse : tiles_end;
    typename Warp::template Of<std::uint32_t> best, long_list;
    warp.each([&](int lane) {
      best[lane] = nothing, long_list[lane] = 0;
      if ((looking >> lane & 1) == 0) return;
      std::int64_t const w = base + lane;
      Offset const begin = tiles.rest.offsets[w], end = tiles.rest.offsets[w + 1];
      Offset const rest_glimpse = begin + glimpse < end ? begin + glimpse : end;
      std::uint32_t const one =
          first_of(tiles_begin, tiles_glimpse, [&](Offset t) { return in_tile(t, w); });
      bool const enough = one != nothing && !least;
      std::uint32_t const other =
          enough ? nothing : first_of(begin, rest_glimpse, [&](Offset k) { return in_rest(k); });
      best[lane] = one < other ? one : other;
      bool const more =
          (one == nothing && tiles_glimpse < tiles_end) || (other == nothing && rest_glimpse < end);
      long_list[lane] = std::uint32_t(more && (least || best[lane] == nothing)) << lane;
    });
    auto const undecided = static_cast<std::uint32_t>(warp.sum(long_list));
    for (std::uint32_t left = undecided; left != 0; left &= left - 1) {
      int const of = lowest_bit(left);
      std::int64_t const w = base + of;
      std::uint32_t met =
          first_of_warp(warp, tiles_begin, tiles_end, [&](Offset t) { return in_tile(t, w); });
      if (met == nothing || least) {
        std::uint32_t const other =
            first_of_warp(warp, tiles.rest.offsets[w], tiles.rest.offsets[w + 1],
                          [&](Offset k) { return in_rest(k); });
        met = met < other ? met : other;
      }
      warp.each([&](int lane) {
        if (lane == of) best[lane] = met;
      });
    }
    typename Warp::template Of<std::uint32_t> reached;
    warp.each([&](int lane) {
      reached[lane] = std::uint32_t(best[lane] != nothing) << lane;
      if (best[lane] != nothing && least) s.parent[base + lane] = static_cast<Index>(best[lane]);
    });
    auto const bits = static_cast<std::uint32_t>(warp.sum(reached));
    warp.each([&](int lane) {
      if (lane == 0 && !found && bits != 0) atomic_or(s.next + J, static_cast<W>(bits) << shift);
    });
  }
};

/// Of eight words: what is new becomes the frontier, and gets its level.
template <class W>
struct Sweep {
  LevelSearch<W> s;
  Index now;  ///< the level that is found
  LevelRecord* record;
  static constexpr int words = 8;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t i) const {
    std::int64_t const base = words * i, all = s.words();
    typename Warp::template Of<std::uint32_t> count;
    typename Warp::template Of<W> mine;
    warp.each([&](int lane) {
      bool const there = lane < words && base + lane < all;
      mine[lane] = there ? s.next[base + lane] & ~s.visited[base + lane] : 0;
      count[lane] = static_cast<std::uint32_t>(count_bits(mine[lane]));
    });
    for (std::int64_t J = base; J < base + words && J < all; ++J) {
      W const fresh = s.next[J] & ~s.visited[J];
      if (fresh == 0) continue;
      warp.each([&](int lane) {
        for (int b = lane; b < s.side(); b += 32) {
          if ((fresh >> b & 1) == 0) continue;
          std::int64_t const v = J * s.side() + b;
          s.level[v] = now;
          if (s.wanted != nullptr && s.wanted[v] != 0) put(&record->wanted, 1);
        }
      });
    }
    auto const total = static_cast<Index>(warp.sum(count));  // after all lanes have read the words
    warp.each([&](int lane) {
      if (lane == 0 && total > 0) atomic_add(&record->found, total);
      if (lane >= words || base + lane >= all) return;
      s.visited[base + lane] |= mine[lane];
      s.frontier_at(now)[base + lane] = mine[lane];
      s.next[base + lane] = 0;
    });
  }
};

// ---- the whole ----

template <class W>
struct Save {
  LevelSearch<W> s;
  LevelRecord state;
  TCSOLVE_HD void operator()(std::int64_t) const { *s.records = state; }
};
template <class W>
struct Finish {
  LevelSearch<W> s;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    if (s.level[v] == s.closed) s.level[v] = s.not_met;
    if (s.parent != nullptr && s.parent[v] == no_parent) s.parent[v] = -1;
  }
};

/// Levels until there are no more, or `most` of them.
template <class W>
struct Levels {
  LevelSearch<W> s;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    if (s.begin) {
      steps.each(s.out.rows > s.most ? s.out.rows : s.most + 1, Forget<W>{s});
      steps.each(s.source_count, Begin<W>{s});
    } else {
      steps.each(s.most, ForgetRecords<W>{s});
    }
    LevelRecord now = steps.value(s.records);
    if (s.begin) now.seen = now.found;
    for (Index k = 0; k < s.most && goes_on(now); ++k) {
      LevelRecord const next = level(steps, now, s.records + 1 + k);
      now.found = next.found, now.wanted = next.wanted;
      now.seen += next.found, ++now.level;
    }
    steps.each(1, Save<W>{s, now});
    if (!goes_on(now)) steps.each(s.out.rows, Finish<W>{s});
  }
  TCSOLVE_HD bool goes_on(LevelRecord const& now) const {
    return now.found > 0 && now.wanted == 0 && now.level != s.depth;
  }

 private:
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD LevelRecord level(Steps const& steps, LevelRecord& now, LevelRecord* record) const {
    SearchStep const way = s.rule.choose(now.found, now.seen, now.in_bits != 0);
    if (way == SearchStep::queue) {
      if (now.in_bits != 0) steps.each_warp(s.words(), Collect<W>{s, now.level, record});
      now.in_bits = 0;
      if (now.found < s.wide) {
        steps.each_warp(now.found, Expand<W>{s, now.level + 1, record});
      } else {
        ExpandSeveral<W> const several{s, now.level + 1, now.found, record};
        steps.each_warp(several.warps(), several);
      }
      LevelRecord const next = steps.value(record);
      if (next.long_rows == 0) return next;
      Offset const pieces = (s.longest + s.long_row - 1) / s.long_row;
      steps.each_warp(next.long_rows * pieces, ExpandLong<W>{s, now.level + 1, record, pieces});
      return steps.value(record);
    }
    std::int64_t const groups = (std::int64_t{s.out.rows} + 31) / 32;
    if (now.in_bits == 0) steps.each_warp(s.words(), Mark<W>{s, now.level});
    now.in_bits = 1;
    if (way == SearchStep::push_csc)
      steps.each_warp(s.words(), PushColumns<W>{s, now.level});
    else if (way == SearchStep::push_csr)
      steps.each_warp(s.in_tiles.slices + s.words(), PushRows<W>{s, now.level});
    else
      steps.each_warp(groups, Pull<W>{s, now.level, false});
    steps.each_warp((s.words() + Sweep<W>::words - 1) / Sweep<W>::words,
                    Sweep<W>{s, now.level + 1, record});
    if (s.parent != nullptr && way != SearchStep::pull_csc)
      steps.each_warp(groups, Pull<W>{s, now.level, true});
    return steps.value(record);
  }
};

// ---- in order ----

struct LevelKeys {
  Index const* level;
  Index levels;
  std::uint32_t* key;
  Index* vertex;
  TCSOLVE_HD void operator()(std::int64_t v) const {
    key[v] = static_cast<std::uint32_t>(level[v] < 0 ? levels : level[v]);
    vertex[v] = static_cast<Index>(v);
  }
};
struct LevelStarts {
  std::uint32_t const* key;
  std::int64_t rows;
  Index* starts;
  TCSOLVE_HD void operator()(std::int64_t l) const {
    starts[l] =
        static_cast<Index>(sparse::first_not_below(key, rows, static_cast<std::uint32_t>(l)));
  }
};
template <class On>
void order_by_levels(On& on, Index const* level, Index rows, Index levels, Index* vertices,
                     Index* starts) {
  auto* const key = on.template take<std::uint32_t>(static_cast<std::size_t>(rows));
  on.each(rows, LevelKeys{level, levels, key, vertices});
  on.sort(key, vertices, rows, static_cast<std::uint32_t>(levels) + 1);
  on.each(std::int64_t{levels} + 1, LevelStarts{key, rows, starts});
}

}  // namespace tcsolve::searching
