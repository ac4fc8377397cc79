// SPDX-License-Identifier: Apache-2.0
/// A set of numbers in [0, n), as bits, that knows how many of its members are less than a number:
/// what numbers the members of a subset by one scan, whatever threads have found them.
///
///     members 1 4 5 of [0, 8)     bits 0 1 0 0 1 1 0 0     below(4) = 1, below(5) = 2, below(8) = 3
///
///     RankedSet s = ranked_set(on, n);      // empty
///     on.each(n, Insert{.., s});            // threads call s.insert(i)
///     Offset members = rank_members(on, s);         // from here on below() answers
///
///   bytes   n / 4, with the scratch of rank_members() 3 n / 8
#pragma once

#include <tcsolve/kernels/bits.hpp>
#include <tcsolve/kernels/convert.hpp>

namespace tcsolve {

struct RankedSet {
  std::int64_t n;
  std::uint64_t* words;  ///< (word_count(n)) the bits of 64 numbers each
  Offset* members;       ///< (word_count(n)) of the words before; filled by rank_members()

  /// One more than needed where 64 divides n, so that below(n) has its word.
  static std::int64_t word_count(std::int64_t n) { return n / 64 + 1; }
  static TCSOLVE_HD std::uint64_t bit(std::int64_t i) { return std::uint64_t{1} << (i & 63); }

  TCSOLVE_HD bool has(std::int64_t i) const { return (words[i >> 6] & bit(i)) != 0; }
  /// By any thread; of most that insert one number the word is not written again.
  TCSOLVE_HD void insert(std::int64_t i) const {
    if ((glance_bits(words + (i >> 6)) & bit(i)) == 0) atomic_or(words + (i >> 6), bit(i));
  }
  /// Members less than i <= n.
  TCSOLVE_HD Offset below(std::int64_t i) const {
    return members[i >> 6] + count_bits(words[i >> 6] & (bit(i) - 1));
  }
};

struct CountMembers {
  RankedSet set;
  Offset* count;
  TCSOLVE_HD void operator()(std::int64_t w) const { count[w] = count_bits(set.words[w]); }
};

/// list_(below(i)) = i for each member: the members in their order.
template <class T>
struct ListMembers {
  RankedSet set;
  T* list;
  TCSOLVE_HD void operator()(std::int64_t w) const {
    T* to = list + set.members[w];
    for (std::uint64_t left = set.words[w]; left != 0; left &= left - 1)
      *to++ = static_cast<T>(64 * w + lowest_bit(left));
  }
};

/// An empty set, in memory of word_count(n) elements each.
template <class On>
RankedSet ranked_set(On& on, std::int64_t n, std::uint64_t* words, Offset* members) {
  on.clear(words, RankedSet::word_count(n));
  return {n, words, members};
}
/// The same, until the conversion ends.
template <class On>
RankedSet ranked_set(On& on, std::int64_t n) {
  auto const count = static_cast<std::size_t>(RankedSet::word_count(n));
  auto* const words = on.template take<std::uint64_t>(count);
  return ranked_set(on, n, words, on.template take<Offset>(count));
}

/// Fills set.members: below() answers from here on, and below(n) is the number of members.
template <class On>
void number_members(On& on, RankedSet const& set) {
  std::int64_t const words = RankedSet::word_count(set.n);
  auto* const count = on.template take<Offset>(static_cast<std::size_t>(words));
  on.each(words, CountMembers{set, count});
  on.scan(count, set.members, words, Plus{});
}
/// The same. Gives the number of members; waits.
template <class On>
Offset rank_members(On& on, RankedSet const& set) {
  number_members(on, set);
  std::int64_t const last = RankedSet::word_count(set.n) - 1;
  Offset before = 0;
  std::uint64_t bits = 0;
  on.read(set.members + last, &before, 1);
  on.read(set.words + last, &bits, 1);
  return before + count_bits(bits);
}

/// The members, where list is (members) on on.space().
template <class On, class T>
void list_members(On& on, RankedSet const& set, T* list) {
  on.each(RankedSet::word_count(set.n), ListMembers<T>{set, list});
}

}  // namespace tcsolve
