// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/classical.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

struct MarkClassical {
  ClassicalRows rule;
  std::uint8_t* keep;
  /// What makes a coupling strong.
  TCSOLVE_HD double pull(double value) const { return rule.absolute ? magnitude(value) : -value; }
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    double most = 0, sum = 0, diagonal = 0;
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    for (Offset k = begin; k < end; ++k) {
      sum += a.values[k];
      if (a.columns[k] == i)
        diagonal = a.values[k];
      else if (pull(a.values[k]) > most)
        most = pull(a.values[k]);
    }
    bool const dominated = magnitude(sum) > rule.max_row_sum * magnitude(diagonal);
    for (Offset k = begin; k < end; ++k)
      keep[k] = !dominated && a.columns[k] != i && pull(a.values[k]) > 0 &&
                pull(a.values[k]) >= rule.strength * most;
  }
};
template <class On>
void mark_classical(On& on, CsrView<double> const& a, ClassicalRows const& rule,
                    std::uint8_t* keep) {
  on.each_row(a.rows, a, MarkClassical{rule, keep});
}

/// 20 bits (Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators).
TCSOLVE_HD std::int64_t hash_of_row(std::int64_t i) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::int64_t>((z ^ (z >> 31)) >> 44);
}

/// A word a row: 0 for F, is_coarse for C, and while it waits its priority: how many rows are
/// strong on it, a hash, its number.
struct CoarseWord {
  static constexpr std::int64_t is_coarse = std::int64_t{1} << 62;
  static constexpr std::int64_t most_dependents = 1023;
  TCSOLVE_HD static std::int64_t of(std::int64_t i, Offset dependents) {
    std::int64_t const count = dependents < most_dependents ? dependents : most_dependents;
    return count << 51 | hash_of_row(i) << 31 | i;
  }
  TCSOLVE_HD static bool waits(std::int64_t word) { return word > 0 && word < is_coarse; }
};

struct LetDependWait {
  PatternView back;
  std::int64_t* word;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const dependents = back.offsets[i + 1] - back.offsets[i];
    word[i] = dependents > 0 ? CoarseWord::of(i, dependents) : 0;
  }
};
struct JoinCoarse {
  PatternView strong, back;
  std::int64_t const* word;
  std::int64_t* next;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int64_t const own = word[i];
    next[i] = own;
    if (!CoarseWord::waits(own)) return;
    bool greatest = true;
    auto const among = [&](PatternView const& edges) {
      for (Offset k = edges.offsets[i], end = edges.offsets[i + 1]; k < end && greatest; ++k) {
        std::int64_t const there = word[edges.columns[k]];
        greatest = !(CoarseWord::waits(there) && there > own);
      }
    };
    among(strong), among(back);
    if (greatest) next[i] = CoarseWord::is_coarse;
  }
};
struct JoinFine {
  PatternView strong;
  std::int64_t const* next;
  std::int64_t* word;
  std::int32_t* waiting;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int64_t own = next[i];
    if (CoarseWord::waits(own)) {
      for (Offset k = strong.offsets[i], end = strong.offsets[i + 1]; k < end && own != 0; ++k)
        if (next[strong.columns[k]] == CoarseWord::is_coarse) own = 0;
      if (own != 0 && glance(waiting) == 0) put(waiting, 1);
    }
    word[i] = own;
  }
};
struct IsCoarse {
  std::int64_t const* word;
  Index rows;
  Index* coarse;  // (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    coarse[i] = i < rows && word[i] == CoarseWord::is_coarse;
  }
};
struct NumberCoarse {
  Index const *coarse, *before;
  Index* number;
  TCSOLVE_HD void operator()(std::int64_t i) const { number[i] = coarse[i] != 0 ? before[i] : -1; }
};

template <class On>
CoarsePoints coarse_points(On& on, PatternView const& strong, PatternView const& back) {
  std::int64_t const n = strong.rows;
  auto* const word = on.template take<std::int64_t>(n);
  auto* const next = on.template take<std::int64_t>(n);
  auto* const coarse = on.template take<Index>(n + 1);
  auto* const before = on.template take<Index>(n + 1);
  auto* const flag = on.template take<std::int32_t>(1);
  on.each(n, LetDependWait{back, word});
  for (std::int32_t waiting = n > 0; waiting != 0;) {
    on.clear(flag, 1);
    on.each(n, JoinCoarse{strong, back, word, next});
    on.each(n, JoinFine{strong, next, word, flag});
    on.read(flag, &waiting, 1);
  }
  on.each(n + 1, IsCoarse{word, strong.rows, coarse});
  on.scan(coarse, before, n + 1, Plus{});
  CoarsePoints made;
  made.number = Array<Index>(on.space(), static_cast<std::size_t>(n));
  on.each(n, NumberCoarse{coarse, before, made.number.data()});
  on.read(before + n, &made.count, 1);
  return made;
}

/// The factors of the graph of two steps among members: rows of members, and columns, of the strong
/// couplings and of the step that stays.
struct MarkTwoSteps {
  CsrView<double> a;
  std::uint8_t const* strong;
  Index const* number;
  std::uint8_t *first, *second;
  TCSOLVE_HD void operator()(std::int64_t i, Offset k) const {
    Index const j = a.columns[k];
    bool const step = j == i || strong[k] != 0;
    first[k] = step && number[i] >= 0;
    second[k] = step && number[j] >= 0;
  }
};
template <class On>
void mark_two_steps(On& on, CsrView<double> const& a, std::uint8_t const* strong,
                    Index const* number, std::uint8_t* first, std::uint8_t* second) {
  sparse::each_entry(on, a, MarkTwoSteps{a, strong, number, first, second});
}

struct StayInPlace {
  Index* number;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    if (number[i] >= 0) number[i] = static_cast<Index>(i);
  }
};
template <class On>
void stay_in_place(On& on, Index rows, Index* number) {
  on.each(rows, StayInPlace{number});
}

}  // namespace tcsolve
