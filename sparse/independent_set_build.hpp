// SPDX-License-Identifier: Apache-2.0
/// An independent set, written once for both backends (kernels/convert.hpp). A vertex has one word:
///
///     waiting    2^61 + its priority
///     member     2^62 + its number
///     out        0
///
///     round      greatest_i = the largest word within `distance` of i; its own: it joins;
///                a member's: it is out
///
/// All rounds are the steps of one loop (kernels/steps.hpp); of few vertices, one kernel.
#pragma once

#include <cstdint>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/steps.hpp>
#include <tcsolve/sparse/independent_set.hpp>

namespace tcsolve::sparse {

constexpr std::int64_t waits = std::int64_t{1} << 61, is_member = std::int64_t{1} << 62;

struct LetWait {
  std::int64_t* word;
  std::uint8_t* settled;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    word[i] = waits + independent_priority(static_cast<Index>(i));
    settled[i] = 0;
  }
};

TCSOLVE_HD bool is_waiting(std::int64_t word) { return word >= waits && word < is_member; }

/// The largest word of i and its neighbours; where `asks` is given, of those alone that wait by it.
/// Words of which none waits stay as they are: `settled`, where it is given, keeps who has seen
/// that, whose greatest one is not looked for again.
struct Greatest {
  PatternView a, back;
  std::int64_t const* word;
  std::int64_t* greatest;
  std::int64_t const* asks = nullptr;
  std::uint8_t* settled = nullptr;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (asks != nullptr && !is_waiting(asks[i])) return;
    if (settled != nullptr && settled[i] != 0) return;
    std::int64_t most = word[i];
    bool waits_here = is_waiting(most);
    auto const among = [&](PatternView const& edges) {
      for (Offset k = edges.offsets[i], end = edges.offsets[i + 1]; k < end; ++k) {
        std::int64_t const there = word[edges.columns[k]];
        most = there > most ? there : most;
        waits_here = waits_here || is_waiting(there);
      }
    };
    among(a);
    if (back.rows > 0) among(back);
    greatest[i] = most;
    if (settled != nullptr && !waits_here) settled[i] = 1;
  }
};

struct Join {
  std::int64_t const* greatest;
  std::int64_t* word;
  std::int32_t* waiting;  ///< set where somebody still waits
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int64_t const mine = word[i];
    if (!is_waiting(mine)) return;
    std::int64_t const most = greatest[i];
    if (most == mine)
      word[i] = is_member + i;
    else if (most >= is_member)
      word[i] = 0;
    else if (glance(waiting) == 0)
      put(waiting, 1);
  }
};

struct IsMember {
  std::int64_t const* word;
  Index rows;
  Index* member;  ///< (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const { member[i] = i < rows && word[i] >= is_member; }
};
struct TakeNumber {
  Index const *member, *before;
  Index* numbers;
  TCSOLVE_HD void operator()(std::int64_t i) const { numbers[i] = member[i] != 0 ? before[i] : -1; }
};

/// A pass over the vertices of a round, which begins with nobody known to wait.
struct FirstPass {
  Greatest greatest;
  std::int32_t* waiting;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (i == 0) *waiting = 0;
    greatest(i);
  }
};

struct Rounds {
  PatternView a, back;
  int distance;
  std::int64_t *word, *near, *farther;
  std::uint8_t* settled;
  std::int32_t* waiting;   ///< (2): of a round and the next, which clears it when all have read it
  Index *member, *before;  ///< (rows + 1)
  Index* numbers;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    std::int64_t const n = a.rows;
    steps.each(n, LetWait{word, settled});
    for (int round = 0;; round ^= 1) {
      std::int32_t* const flag = waiting + round;
      if (distance > 1) {
        steps.each(n, FirstPass{{a, back, word, near, nullptr, settled}, flag});
        steps.each(n, Greatest{a, back, near, farther, word});
      } else {
        steps.each(n, FirstPass{{a, back, word, near, word}, flag});
      }
      steps.each(n, Join{distance > 1 ? farther : near, word, flag});
      if (steps.value(flag) == 0) break;
    }
    steps.each(n + 1, IsMember{word, a.rows, member});
    steps.scan(member, before, n + 1);
    steps.each(n, TakeNumber{member, before, numbers});
  }
};

template <class On>
IndependentSet independent_set(On& on, PatternView const& a, PatternView const& back,
                               int distance) {
  std::int64_t const n = a.rows;
  IndependentSet set;
  set.numbers = Array<Index>(on.space(), static_cast<std::size_t>(n));
  if (n == 0) return set;
  Rounds const rounds{a,
                      back,
                      distance,
                      on.template take<std::int64_t>(n),
                      on.template take<std::int64_t>(n),
                      on.template take<std::int64_t>(n),
                      on.template take<std::uint8_t>(n),
                      on.template take<std::int32_t>(2),
                      on.template take<Index>(n + 1),
                      on.template take<Index>(n + 1),
                      set.numbers.data()};
  // Beyond it a grid of a block a multiprocessor, half of what there can be, takes longer for the
  // passes than launches and looks do.
  constexpr std::int64_t few = 1 << 18;
  if (n <= few)
    cooperate(on, rounds);
  else
    step_by_step(on, rounds);
  on.read(rounds.before + n, &set.count, 1);
  return set;
}

}  // namespace tcsolve::sparse
