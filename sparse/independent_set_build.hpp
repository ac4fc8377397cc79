// SPDX-License-Identifier: Apache-2.0
/// An independent set, written once for both backends over kernels/steps.hpp. A vertex has
///
///     word       while it waits that of the round, independent_word(); else 0
///     nearest    the largest word of itself and its neighbours            at distance 2
///     owner      the member that it is next to, or is; -1: none
///
/// and a round three steps, each over a list of those that it may still change:
///
///     look       nearest of all that have a neighbour who waits           at distance 2
///     join       who waits and has the largest word within `distance`, that is, of nearest around
///                it (of words at distance 1): becomes its own owner, and at distance 2 that of
///                its neighbours
///     settle     who waits and has an owner, or a neighbour that has one: waits no more; a new
///                word for the others
///
/// At distance 2 no two members have a neighbour in common, so that only one gives a vertex its
/// owner. Where a pattern is not quite as symmetric as the caller says, several may: the largest
/// does, whoever comes first.
///
/// The first rounds of a large graph are launched one behind the other, unseen by the host; all
/// others are one cooperative kernel, which looks itself.
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/independent_set.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::sparse {

/// The vertices, their neighbours, and what is known of them.
struct SetState {
  PatternView a, back;
  int distance;
  std::uint32_t *word, *nearest;
  Index* owner;
  Index const* apart;  ///< (rows) or null: where it is not negative the vertex is not in the graph

  TCSOLVE_HD bool there(Index v) const { return apart == nullptr || apart[v] < 0; }
  /// f(neighbour) for every `lanes`th of v's, until it returns false.
  template <class F>
  TCSOLVE_HD void each_neighbour(Index v, int lane, int lanes, F const& f) const {
    bool on = true;
    for (Offset k = a.offsets[v] + lane, end = a.offsets[v + 1]; on && k < end; k += lanes)
      on = f(a.columns[k]);
    if (back.rows == 0) return;
    for (Offset k = back.offsets[v] + lane, end = back.offsets[v + 1]; on && k < end; k += lanes)
      on = f(back.columns[k]);
  }
  /// Of v and its neighbours.
  TCSOLVE_HD std::uint32_t largest(std::uint32_t const* of, Index v, int lane, int lanes) const {
    std::uint32_t most = of[v];
    each_neighbour(v, lane, lanes, [&](Index j) {
      most = of[j] > most ? of[j] : most;
      return true;
    });
    return most;
  }
};

/// All that are there wait, and are listed.
struct LetWait {
  SetState s;
  TCSOLVE_HD std::uint32_t part(Index, int, int) const { return 0; }
  TCSOLVE_HD bool end(Index v, std::uint32_t, int, int) const {
    bool const waits = s.there(v);
    s.word[v] = waits ? independent_word(v, 0) : 0;
    s.nearest[v] = 0;
    s.owner[v] = -1;
    return waits;
  }
};

/// A member is near for good where a vertex has an owner, and nobody waits beside it.
struct Look {
  SetState s;
  TCSOLVE_HD std::uint32_t part(Index v, int lane, int lanes) const {
    return s.owner[v] >= 0 ? 0 : s.largest(s.word, v, lane, lanes);
  }
  TCSOLVE_HD bool end(Index v, std::uint32_t most, int lane, int) const {
    if (lane == 0) s.nearest[v] = most;
    return most != 0;
  }
};

struct Join {
  SetState s;
  TCSOLVE_HD std::uint32_t part(Index v, int lane, int lanes) const {
    return s.largest(s.distance > 1 ? s.nearest : s.word, v, lane, lanes);
  }
  TCSOLVE_HD bool end(Index v, std::uint32_t most, int lane, int lanes) const {
    if (most != s.word[v]) return false;
    if (lane == 0) raise_to(s.owner + v, v);
    if (s.distance > 1)
      s.each_neighbour(v, lane, lanes, [&](Index j) {
        if (s.there(j)) raise_to(s.owner + j, v);
        return true;
      });
    return false;
  }
};

struct Settle {
  SetState s;
  int round;
  TCSOLVE_HD std::uint32_t part(Index v, int lane, int lanes) const {
    bool out = s.owner[v] >= 0;
    if (!out)
      s.each_neighbour(v, lane, lanes, [&](Index j) {
        out = s.owner[j] >= 0;
        return !out;
      });
    return out;
  }
  TCSOLVE_HD bool end(Index v, std::uint32_t out, int lane, int) const {
    if (lane == 0) s.word[v] = out != 0 ? 0 : independent_word(v, round + 1);
    return out == 0;
  }
};

/// Rows are walked by `lanes` lanes each.
template <int lanes>
struct Rounds {
  static constexpr int unseen = 3;  ///< rounds without a look: a vertex of 60 waits after them
  SetState s;
  Index *waiting[2], *looking[2];  ///< (rows) each: those listed in even rounds, and in odd ones
  Index* counts;                   ///< (count_slots), zeros before

  static constexpr int count_slots = 5;
  TCSOLVE_HD StepList all() const { return {nullptr, nullptr, s.a.rows}; }
  /// Who waits, and whose nearest may change: all vertices before the first round.
  TCSOLVE_HD StepList first() const {
    return s.apart == nullptr ? all() : StepList{looking[0], counts, s.a.rows};
  }
  TCSOLVE_HD StepList who_waits(int round) const {
    return round == 0 ? first() : StepList{waiting[round % 2], counts + 1 + round % 2, s.a.rows};
  }
  TCSOLVE_HD StepList who_looks(int round) const {
    return round == 0 ? first() : StepList{looking[round % 2], counts + 3 + round % 2, s.a.rows};
  }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void round(Steps const& steps, int r) const {
    StepList const next = who_waits(r + 1);
    if (s.distance > 1) steps.template pick<lanes>(who_looks(r), who_looks(r + 1), Look{s});
    steps.template pick<lanes>(who_waits(r), StepList{}, Join{s}, next.count);
    steps.template pick<lanes>(who_waits(r), next, Settle{s, r},
                               r > 0 ? who_looks(r).count : nullptr);
  }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void begin(Steps const& steps) const {
    steps.template pick<1>(all(), s.apart == nullptr ? StepList{} : first(), LetWait{s});
    for (int r = 0; r < unseen; ++r) round(steps, r);
  }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void finish(Steps const& steps) const {
    for (int r = unseen; steps.value(who_waits(r).count) > 0; ++r) round(steps, r);
  }
};

/// Memory for them.
template <int lanes, class On>
Rounds<lanes> take_rounds(On& on, PatternView const& a, PatternView const& back, int distance) {
  std::int64_t const n = a.rows;
  auto const list = [&] { return on.template take<Index>(n); };
  auto const words = [&] { return on.template take<std::uint32_t>(n); };
  constexpr int slots = Rounds<lanes>::count_slots;
  Rounds<lanes> const made{{a, back, distance, words(), words(), list(), nullptr},
                           {list(), list()},
                           {list(), list()},
                           on.template take<Index>(slots)};
  on.clear(made.counts, slots);
  return made;
}

template <int lanes>
struct FirstRounds {
  Rounds<lanes> rounds;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    rounds.begin(steps);
  }
};
template <int lanes>
struct LastRounds {
  Rounds<lanes> rounds;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    rounds.finish(steps);
  }
};
template <int lanes>
struct AllRounds {
  Rounds<lanes> rounds;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    rounds.begin(steps);
    rounds.finish(steps);
  }
};

/// Of more rows a step takes longer by half of the threads that a device can have, which is what a
/// cooperative kernel has, than by a launch.
constexpr std::int64_t few_rows = 1 << 18;

struct IsMember {
  Index const* owner;
  Index rows;
  Index* member;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const { member[i] = i < rows && owner[i] == i; }
};
struct TakeNumber {
  Index const *member, *before;
  Index* numbers;
  TCSOLVE_HD void operator()(std::int64_t i) const { numbers[i] = member[i] != 0 ? before[i] : -1; }
};

template <int lanes, class On>
IndependentSet independent_set(On& on, PatternView const& a, PatternView const& back,
                               int distance) {
  std::int64_t const n = a.rows;
  IndependentSet set;
  set.numbers = Array<Index>(on.space(), static_cast<std::size_t>(n));
  if (n == 0) return set;
  Rounds<lanes> const rounds = take_rounds<lanes>(on, a, back, distance);
  if (n > few_rows) {
    step_by_step(on, FirstRounds<lanes>{rounds});
    cooperate(on, LastRounds<lanes>{rounds});
  } else {
    cooperate(on, AllRounds<lanes>{rounds});
  }
  auto* const member = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  on.each(n + 1, IsMember{rounds.s.owner, a.rows, member});
  on.scan(member, before, n + 1, Plus{});
  on.each(n, TakeNumber{member, before, set.numbers.data()});
  on.read(before + n, &set.count, 1);
  return set;
}

template <class On>
IndependentSet independent_set(On& on, PatternView const& a, PatternView const& back,
                               int distance) {
  return has_short_rows(a) ? independent_set<1>(on, a, back, distance)
                           : independent_set<8>(on, a, back, distance);
}

}  // namespace tcsolve::sparse
