// SPDX-License-Identifier: Apache-2.0
/// An independent set, written once for both backends (kernels/convert.hpp). A vertex has one word:
///
///     waiting    2^61 + its priority
///     member     2^62 + its number
///     out        0
///
///     round      greatest_i = the largest word within `distance` of i; its own: it joins;
///                a member's: it is out
#pragma once

#include <cstdint>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
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

template <class On>
IndependentSet independent_set(On& on, PatternView const& a, PatternView const& back,
                               int distance) {
  std::int64_t const n = a.rows;
  auto* const word = on.template take<std::int64_t>(n);
  auto* const near = on.template take<std::int64_t>(n);
  auto* const farther = on.template take<std::int64_t>(n);
  auto* const member = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  auto* const settled = on.template take<std::uint8_t>(n);
  auto* const flag = on.template take<std::int32_t>(1);
  on.each(n, LetWait{word, settled});
  for (std::int32_t waiting = n > 0; waiting != 0;) {
    on.clear(flag, 1);
    if (distance > 1) {
      on.each(n, Greatest{a, back, word, near, nullptr, settled});
      on.each(n, Greatest{a, back, near, farther, word});
    } else {
      on.each(n, Greatest{a, back, word, near, word});
    }
    on.each(n, Join{distance > 1 ? farther : near, word, flag});
    on.read(flag, &waiting, 1);
  }
  on.each(n + 1, IsMember{word, a.rows, member});
  on.scan(member, before, n + 1, Plus{});
  IndependentSet set;
  set.numbers = Array<Index>(on.space(), static_cast<std::size_t>(n));
  on.each(n, TakeNumber{member, before, set.numbers.data()});
  on.read(before + n, &set.count, 1);
  return set;
}

}  // namespace tcsolve::sparse
