// SPDX-License-Identifier: Apache-2.0
/// Aggregates, written once for both backends over kernels/steps.hpp. An independent set's members
/// give their neighbours an owner (sparse/independent_set_build.hpp): what is left is to number
/// those that are roots, and the rest. All of a small graph is one cooperative kernel.
#pragma once

#include <utility>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/precond/amg/aggregates.hpp>
#include <tcsolve/sparse/independent_set_build.hpp>

namespace tcsolve {

/// A member of an independent set is a root where it owns `least` neighbours.
struct IsRoot {
  PatternView graph;
  Index const* owner;
  Offset least;
  Index* root;  // (nodes + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset owned = 0;
    if (i < graph.rows && owner[i] == i)
      for (Offset k = graph.offsets[i], end = graph.offsets[i + 1]; owned < least && k < end; ++k)
        owned += owner[graph.columns[k]] == i && graph.columns[k] != i;
    root[i] = owned == least;
  }
};

/// The roots' numbers, for those that they own; before: how many roots stand before each.
struct RootNumbers {
  Index const *owner, *before;  ///< (nodes), (nodes + 1)
  TCSOLVE_HD Index of(std::int64_t i) const {
    Index const o = owner[i];
    return o >= 0 && before[o + 1] > before[o] ? before[o] : -1;
  }
};
struct JoinFirst {
  RootNumbers numbers;
  Index nodes;
  Index *of, *count;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    of[i] = numbers.of(i);
    if (i == 0) *count = numbers.before[nodes];
  }
};
/// The same behind those of the first phase; who is in none yet is listed.
struct JoinSecond {
  RootNumbers numbers;
  Index* of;
  Index const* first;
  TCSOLVE_HD std::uint32_t part(Index, int, int) const { return 0; }
  TCSOLVE_HD bool end(Index i, std::uint32_t, int, int) const {
    if (of[i] >= 0) return false;
    Index const number = numbers.of(i);
    if (number < 0) return true;
    of[i] = *first + number;
    return false;
  }
};

/// The aggregate that most of the neighbours of a node are in; of several the first. Lanes share
/// the candidates.
struct ChooseMost {
  static constexpr int most = 64;  // neighbours looked at
  PatternView graph;
  Index const* of;
  std::uint32_t* choice;  ///< that and 1; 0: none
  /// How many, then the aggregate, the first one largest.
  TCSOLVE_HD std::uint64_t part(Index i, int lane, int lanes) const {
    Index around[most];
    int n = 0;
    for (Offset k = graph.offsets[i], end = graph.offsets[i + 1]; k < end && n < most; ++k)
      if (of[graph.columns[k]] >= 0) around[n++] = of[graph.columns[k]];
    std::uint64_t best = 0;
    for (int p = lane; p < n; p += lanes) {
      std::uint32_t same = 0;
      for (int q = 0; q < n; ++q) same += around[q] == around[p];
      std::uint64_t const vote =
          std::uint64_t{same} << 32 | (0xffffffffu - static_cast<std::uint32_t>(around[p]));
      best = vote > best ? vote : best;
    }
    return best;
  }
  TCSOLVE_HD bool end(Index i, std::uint64_t best, int lane, int) const {
    if (lane == 0) choice[i] = best == 0 ? 0 : 0xffffffffu - static_cast<std::uint32_t>(best) + 1;
    return false;
  }
};
struct JoinChosen {
  std::uint32_t const* choice;
  Index* of;
  TCSOLVE_HD std::uint32_t part(Index, int, int) const { return 0; }
  TCSOLVE_HD bool end(Index i, std::uint32_t, int, int) const {
    of[i] = static_cast<Index>(choice[i]) - 1;
    return false;
  }
};
struct AddSecond {
  Index const* second;
  Index* count;
  TCSOLVE_HD void operator()(std::int64_t) const { *count += *second; }
};

/// Rows of the graph are walked by `lanes` lanes each.
template <int lanes>
struct AggregateSteps {
  sparse::Rounds<lanes> first, second;  ///< on the same memory but for counts
  Index *root, *before;                 ///< (nodes + 1)
  Index* rest;                          ///< in none after two phases: their number
  Index* count;                         ///< of aggregates
  Index* of;

  TCSOLVE_HD PatternView const& graph() const { return first.s.a; }
  TCSOLVE_HD RootNumbers numbers() const { return {first.s.owner, before}; }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void number_roots(Steps const& steps, Offset least) const {
    std::int64_t const n = std::int64_t{graph().rows} + 1;
    steps.each(n, IsRoot{graph(), first.s.owner, least, root});
    steps.scan(root, before, n);
  }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void end_first(Steps const& steps) const {
    number_roots(steps, 1);
    steps.each(graph().rows, JoinFirst{numbers(), graph().rows, of, count});
  }
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void end_second(Steps const& steps) const {
    number_roots(steps, 2);
    StepList const left{first.waiting[0], rest, graph().rows};
    std::uint32_t* const choice = first.s.nearest;
    steps.template pick<1>(first.all(), left, JoinSecond{numbers(), of, count});
    steps.template pick<lanes>(left, StepList{}, ChooseMost{graph(), of, choice});
    steps.template pick<1>(left, StepList{}, JoinChosen{choice, of});
    steps.each(1, AddSecond{before + graph().rows, count});
  }
};

/// What is launched step by step between the last rounds of the two sets, and behind them.
template <int lanes>
struct BetweenSets {
  AggregateSteps<lanes> made;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    made.end_first(steps);
    made.second.begin(steps);
  }
};
template <int lanes>
struct BehindSets {
  AggregateSteps<lanes> made;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    made.end_second(steps);
  }
};
template <int lanes>
struct AllOfIt {
  AggregateSteps<lanes> made;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    made.first.begin(steps);
    made.first.finish(steps);
    made.end_first(steps);
    made.second.begin(steps);
    made.second.finish(steps);
    made.end_second(steps);
  }
};

template <int lanes, class On>
Aggregates aggregates(On& on, CancelFlag const& cancel, PatternView const& strong) {
  std::int64_t const n = strong.rows;
  Aggregates found;
  found.of = Array<Index>(on.space(), static_cast<std::size_t>(n));
  if (n == 0) return found;
  auto const first = sparse::take_rounds<lanes>(on, strong, {}, 2);
  auto second = first;
  second.s.apart = found.of.data();
  constexpr int slots = sparse::Rounds<lanes>::count_slots;
  second.counts = on.template take<Index>(slots + 2);
  on.clear(second.counts, slots + 2);
  Index* const rest = second.counts + slots;
  AggregateSteps<lanes> const made{first,
                                   second,
                                   on.template take<Index>(n + 1),
                                   on.template take<Index>(n + 1),
                                   rest,
                                   rest + 1,
                                   found.of.data()};
  constexpr std::int64_t of_a_block = 2048 / lanes;
  if (n <= of_a_block) {
    in_one_block(on, AllOfIt<lanes>{made});
  } else if (n <= sparse::few_rows) {
    cooperate(on, AllOfIt<lanes>{made});
  } else {
    step_by_step(on, sparse::FirstRounds<lanes>{first});
    cooperate(on, sparse::LastRounds<lanes>{first});
    cancel.check();
    step_by_step(on, BetweenSets<lanes>{made});
    cooperate(on, sparse::LastRounds<lanes>{second});
    cancel.check();
    step_by_step(on, BehindSets<lanes>{made});
  }
  on.read(made.count, &found.count, 1);
  return found;
}
template <class On>
Aggregates aggregates(On& on, CancelFlag const& cancel, PatternView const& strong) {
  return sparse::has_short_rows(strong) ? aggregates<1>(on, cancel, strong)
                                        : aggregates<8>(on, cancel, strong);
}

}  // namespace tcsolve
