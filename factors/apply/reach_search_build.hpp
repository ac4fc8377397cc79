// SPDX-License-Identifier: Apache-2.0
/// Searches for reaches (factors/apply/reach_search.hpp), written once for both backends
/// (kernels/convert.hpp, kernels/steps.hpp).
#pragma once

#include <tcsolve/factors/apply/reach_search.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/bits.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::reaches {

// ---- once ----

/// Whether each entry (i, j) of `a` has its (j, i) in `b`.
struct SeeSymmetry {
  TriangleGraph a, b;
  Index* differs;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    auto const row = static_cast<Index>(i);
    for (Offset k = a.begin[i]; k < a.end[i]; ++k) {
      Index const j = a.columns[k];
      Offset const first = b.begin[j], count = b.end[j] - first;
      Offset const at = sparse::first_not_below(b.columns + first, count, row);
      if (at == count || b.columns[first + at] != row) return put(differs, 1);
    }
  }
};

struct SetPlace {
  Index const* row_of;
  Index* place;
  TCSOLVE_HD void operator()(std::int64_t p) const {
    if (row_of[p] >= 0) place[row_of[p]] = static_cast<Index>(p);
  }
};

/// The level of group g: the last one that starts at its first place or before.
struct SetLevel {
  Index const* starts;
  Index levels;
  Index* level;
  TCSOLVE_HD void operator()(std::int64_t g) const {
    level[g] = sparse::last_not_above(starts, levels, static_cast<Index>(g * rows_of_warp));
  }
};

struct Invert {
  Index const* from;
  Index* row_of;
  TCSOLVE_HD void operator()(std::int64_t i) const { row_of[from[i]] = static_cast<Index>(i); }
};

template <class On>
bool prepare(On& on, TriangleGraph const& lower, TriangleGraph const& upper, Index const* from,
             ReachView const& of_lower, ReachView const& of_upper, SeedsView const& seeds) {
  Index* const differs = on.template take<Index>(1);
  on.clear(differs, 1);
  on.each(lower.rows, SeeSymmetry{lower, upper, differs});
  on.each(lower.rows, SeeSymmetry{upper, lower, differs});
  auto const place = [&](TriangleGraph const& t, ReachView const& r) {
    on.each(t.places, SetPlace{t.row_of, r.place});
    on.each(r.groups, SetLevel{t.starts, t.levels, r.level});
  };
  place(lower, of_lower), place(upper, of_upper);
  on.each(lower.rows, Invert{from, seeds.row_of});
  Index different = 0;
  on.read(differs, &different, 1);
  return different == 0;
}

struct CountColumns {
  TriangleGraph t;
  Index* count;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Offset k = t.begin[i]; k < t.end[i]; ++k) atomic_add(count + t.columns[k], 1);
  }
};
struct FillColumns {
  TriangleGraph t;
  Index *next, *rows;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Offset k = t.begin[i]; k < t.end[i]; ++k)
      rows[atomic_add(next + t.columns[k], 1)] = static_cast<Index>(i);
  }
};

template <class On>
void make_columns(On& on, TriangleGraph const& t, Array<Index>& starts, Array<Index>& rows) {
  std::int64_t const n = std::int64_t{t.rows} + 1;
  auto* const count = on.template take<Index>(n);
  on.clear(count, n);
  on.each(t.rows, CountColumns{t, count});
  starts = Array<Index>(on.space(), static_cast<std::size_t>(n));
  on.scan(count, starts.data(), n, Plus{});
  Index entries = 0;
  on.read(starts.data() + t.rows, &entries, 1);
  rows = Array<Index>(on.space(), static_cast<std::size_t>(entries));
  on.each(t.rows, sparse::Copy<Index>{starts.data(), count});
  on.each(t.rows, FillColumns{t, count, rows.data()});
}

// ---- for each x ----

/// Rows 32 w to 32 w + 31 of x: those that are not zero, as a NaN, become seeds.
struct Look {
  /// Of 32 elements spread over x, so many that are not zero are not those of few entries. So a
  /// dense x is seen by each warp for itself, and no counter is fought for.
  static constexpr int many = 8;
  SeedsView s;
  double const* x;
  std::int64_t stride;

  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint32_t> there, start;
    warp.each([&](int lane) { there[lane] = x[std::int64_t{s.rows} * lane / 32 * stride] != 0; });
    if (warp.sum(there) >= many) {
      warp.each([&](int lane) {
        if (lane == 0 && w == 0) put(s.count, s.few + 1);
      });
      return;
    }
    warp.each([&](int lane) {
      std::int64_t const i = 32 * w + lane;
      there[lane] = i < s.rows && x[i * stride] != 0;
    });
    auto rank = there;
    auto const found = static_cast<Index>(warp.rank(rank));
    if (found == 0) return;
    warp.each([&](int lane) {
      start[lane] = 0;
      if (lane != 0) return;
      bool const too_many = glance(s.count) > s.few;
      start[lane] = static_cast<std::uint32_t>(too_many ? s.few : atomic_add(s.count, found));
    });
    auto const first = static_cast<Index>(warp.sum(start));
    warp.each([&](int lane) {
      Index const at = first + static_cast<Index>(rank[lane]);
      if (there[lane] != 0 && at < s.few) s.seeds[at] = static_cast<Index>(32 * w + lane);
    });
  }
};

TCSOLVE_HD std::uint64_t bit_of(Index i) { return std::uint64_t{1} << (i % 64); }

/// Row i joins the queue unless it has been seen.
TCSOLVE_HD void enter(ReachView const& t, Index i) {
  std::uint64_t* const word = t.seen + i / 64;
  if ((glance_bits(word) & bit_of(i)) != 0) return;
  if ((atomic_or(word, bit_of(i)) & bit_of(i)) != 0) return;
  t.queue[atomic_add(&t.state->rows, 1)] = i;
  atomic_add(&t.state->visited, static_cast<Index>(t.end[i] - t.begin[i]));
}

/// What the last search has left goes.
struct Forget {
  ReachView t;
  TCSOLVE_HD void operator()(std::int64_t k) const { put_bits(t.seen + t.queue[k] / 64, 0); }
};
struct Unmark {
  ReachView t;
  TCSOLVE_HD void operator()(std::int64_t k) const { put_bits(t.marked + t.list[k] / 64, 0); }
};
struct Begin {
  ReachState* state;
  TCSOLVE_HD void operator()(std::int64_t) const {
    state->rows = state->groups = state->visited = state->levels = state->known = 0;
  }
};

/// Rows of L by those of x; rows of U by those that the search of L has found.
struct EnterSeed {
  ReachView t;
  SeedsView s;
  TCSOLVE_HD void operator()(std::int64_t k) const { enter(t, s.row_of[s.seeds[k]]); }
};
struct EnterFound {
  ReachView t;
  Index const* rows;
  TCSOLVE_HD void operator()(std::int64_t k) const { enter(t, rows[k]); }
};

/// The rows that need the unknown at place first + k of the queue.
struct Expand {
  ReachView t;
  Index first;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t k) const {
    Index const j = t.queue[first + k];
    Offset const end = t.end[j];
    for (Offset e = t.begin[j]; e < end; e += 32)
      warp.each([&](int lane) {
        if (e + lane < end) enter(t, t.needed_by[e + lane]);
      });
  }
};

struct MarkGroup {
  ReachView t;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index const group = t.place[t.queue[k]] / rows_of_warp;
    atomic_or(t.marked + group / 64, bit_of(group));
  }
};
struct CountGroups {
  ReachView t;
  TCSOLVE_HD void operator()(std::int64_t w) const { t.count[w] = count_bits(t.marked[w]); }
};
struct ListGroups {
  ReachView t;
  Index words;
  TCSOLVE_HD void operator()(std::int64_t w) const {
    Index at = t.before[w];
    for (std::uint64_t left = t.marked[w]; left != 0; left &= left - 1)
      t.list[at++] = static_cast<Index>(64 * w) + lowest_bit(left);
    if (w == words - 1) t.state->groups = at;
  }
};
/// A group whose predecessor in the list is of another level begins one.
struct CountLevel {
  ReachView t;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    if (k == 0 || t.level[t.list[k]] != t.level[t.list[k - 1]]) atomic_add(&t.state->levels, 1);
  }
};

/// The account: a level of the search takes as long as two of a solve, so do 1024 entries.
struct Conclude {
  static constexpr Index most = Index{1} << 28;
  ReachView t;
  Index depth;
  bool known;
  TCSOLVE_HD void operator()(std::int64_t) const {
    ReachState& s = *t.state;
    s.known = known ? 1 : 0;
    Index const cost = 2 * (depth + s.visited / 1024);
    Index const gain = (known ? t.levels - s.levels : 0) - cost;
    Index& side = gain > 0 ? s.saved : s.wasted;
    side += gain > 0 ? gain : -gain;
    if (side > most) side = most;
  }
};

/// One triangle, from `count` rows; Enter{t, ...} takes them in.
template <class Steps, class Enter>
TCSOLVE_HD ReachState search(Steps const& steps, ReachView const& t, bool wanted,
                             Enter const& enter_row, Index count) {
  ReachState now = steps.value(t.state);
  steps.each(now.rows, Forget{t});
  steps.each(now.groups, Unmark{t});
  steps.each(1, Begin{t.state});
  now.known = 0;
  if (!wanted || now.wasted > now.saved) return now;
  steps.each(count, enter_row);
  now = steps.value(t.state);
  Index depth = 0;
  for (Index first = 0; now.visited <= t.most && first < now.rows; ++depth) {
    Index const end = now.rows;
    steps.each_warp(end - first, Expand{t, first});
    first = end;
    now = steps.value(t.state);
  }
  bool const known = now.visited <= t.most;
  if (known) {
    Index const words = (t.groups + 63) / 64;
    steps.each(now.rows, MarkGroup{t});
    steps.each(words, CountGroups{t});
    steps.scan(t.count, t.before, words);
    steps.each(words, ListGroups{t, words});
    steps.each(steps.value(&t.state->groups), CountLevel{t});
  }
  steps.each(1, Conclude{t, depth, known});
  return steps.value(t.state);
}

struct Search {
  ReachView lower, upper;
  SeedsView s;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    Index const count = steps.value(s.count);
    bool const few = count <= s.few;
    ReachState const found = search(steps, lower, few, EnterSeed{lower, s}, count);
    search(steps, upper, found.known != 0, EnterFound{upper, lower.queue}, found.rows);
    steps.each(1, Clear{s.count});
  }
  struct Clear {
    Index* count;
    TCSOLVE_HD void operator()(std::int64_t) const { *count = 0; }
  };
};

}  // namespace tcsolve::reaches
