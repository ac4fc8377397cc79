// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/classical.hpp>
#include <tcsolve/sparse/independent_set.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

struct MarkClassical {
  ClassicalRows rule;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    double most = 0, sum = 0, diagonal = 0;
    Offset const begin = a.offsets[i], end = a.offsets[i + 1];
    for (Offset k = begin; k < end; ++k) {
      sum += a.values[k];
      if (a.columns[k] == i)
        diagonal = a.values[k];
      else if (-a.values[k] > most)
        most = -a.values[k];
    }
    bool const dominated = magnitude(sum) > rule.max_row_sum * magnitude(diagonal);
    for (Offset k = begin; k < end; ++k)
      keep[k] = !dominated && a.columns[k] != i && a.values[k] < 0 &&
                -a.values[k] >= rule.strength * most;
  }
};
template <class On>
void mark_classical(On& on, CsrView<double> const& a, ClassicalRows const& rule,
                    std::uint8_t* keep) {
  on.each_row(a.rows, a, MarkClassical{rule, keep});
}

/// A word a row: 0 for F, is_coarse for C, and while it waits its priority: how many rows are
/// strong on it, a hash, its number.
struct CoarseWord {
  static constexpr std::int64_t is_coarse = std::int64_t{1} << 62;
  static constexpr std::int64_t most_dependents = 1023;
  TCSOLVE_HD static std::int64_t of(std::int64_t i, Offset dependents) {
    std::int64_t const count = dependents < most_dependents ? dependents : most_dependents;
    std::int64_t const hash = sparse::independent_priority(static_cast<Index>(i)) >> 41;  // 20 bits
    return count << 51 | hash << 31 | i;
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

/// Strong couplings of row i to C: how many, and their sum.
struct ToCoarse {
  Index count = 0;
  double sum = 0;
  TCSOLVE_HD static ToCoarse of(CsrView<double> const& a, std::uint8_t const* strong,
                                Index const* number, std::int64_t i) {
    ToCoarse found;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (strong[k] != 0 && number[a.columns[k]] >= 0) ++found.count, found.sum += a.values[k];
    return found;
  }
};
struct ReachCoarse {
  std::uint8_t const* strong;
  Index const* number;
  ToCoarse* to;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    to[i] = ToCoarse::of(a, strong, number, i);
  }
};

/// The diagonal, and of F rows with couplings to C the strong ones to others like them.
struct MarkFine {
  CsrView<double> a;
  std::uint8_t const* strong;
  Index const* number;
  ToCoarse const* to;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    bool const fine = number[i] < 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      keep[k] = j == i || (fine && strong[k] != 0 && number[j] < 0 && to[j].count > 0);
    }
  }
};
template <class On>
void mark_fine(On& on, CsrView<double> const& a, std::uint8_t const* strong, Index const* number,
               std::uint8_t* keep) {
  auto* const to = on.template take<ToCoarse>(a.rows);
  on.each_row(a.rows, a, ReachCoarse{strong, number, to});
  on.each(a.rows, MarkFine{a, strong, number, to, keep});
}

struct CountToCoarse {
  std::uint8_t const* strong;
  Index const* number;
  Offset* length;  // (rows + 1)
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    length[i] = i >= a.rows ? 0 : number[i] >= 0 ? 1 : ToCoarse::of(a, strong, number, i).count;
  }
};
struct FillToCoarse {
  std::uint8_t const* strong;
  Index const* number;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    Offset to = offsets[i];
    if (number[i] >= 0) {
      columns[to] = number[i];
      return;
    }
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (strong[k] != 0 && number[a.columns[k]] >= 0) columns[to++] = number[a.columns[k]];
  }
};
template <class On>
sparse::OwnedPattern coarse_pattern(On& on, CsrView<double> const& a, std::uint8_t const* strong,
                                    CoarsePoints const& coarse) {
  std::int64_t const n = std::int64_t{a.rows} + 1;
  Index const* const number = coarse.number.data();
  auto* const length = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each_row(n, a, CountToCoarse{strong, number, length});
  on.scan(length, offsets, n, Plus{});
  sparse::OwnedPattern made = sparse::with_offsets(on, a.rows, coarse.count, offsets);
  on.each_row(a.rows, a, FillToCoarse{strong, number, made.offsets(), made.columns.data()});
  return made;
}

/// Rows of both factors.
struct InterpolationFactors {
  CsrView<double> a;
  std::uint8_t const* strong;
  Index const* number;
  ToCoarse const* to;
  PatternView fine, to_coarse;
  double *left, *right;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset at = fine.offsets[i], right_at = to_coarse.offsets[i];
    if (number[i] >= 0) {
      left[at] = right[right_at] = 1;
      return;
    }
    double diagonal = 0, rest = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      if (j == i)
        diagonal = a.values[k];
      else if (strong[k] == 0 || (number[j] < 0 && to[j].count == 0))
        rest += a.values[k];
    }
    constexpr double cancelled = 1e-14;
    double all = diagonal + rest;
    if (!(magnitude(all) > cancelled * magnitude(diagonal))) all = diagonal;
    double const factor = all != 0 ? -1 / all : 0.0, sum = to[i].sum;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1], stop = fine.offsets[i + 1]; k < end;
         ++k) {
      Index const j = a.columns[k];
      if (at < stop && fine.columns[at] == j) left[at++] = factor * (j == i ? sum : a.values[k]);
      if (strong[k] != 0 && number[j] >= 0) right[right_at++] = sum != 0 ? a.values[k] / sum : 0.0;
    }
  }
};
template <class On>
void interpolation_factors(On& on, CsrView<double> const& a, std::uint8_t const* strong,
                           Index const* number, sparse::OwnedPattern const& fine,
                           sparse::OwnedPattern const& to_coarse, double* left, double* right) {
  auto* const to = on.template take<ToCoarse>(a.rows);
  on.each_row(a.rows, a, ReachCoarse{strong, number, to});
  on.each(a.rows,
          InterpolationFactors{a, strong, number, to, fine.view(), to_coarse.view(), left, right});
}

/// The largest entries of a row; of equal ones the first.
struct MarkLargest {
  int most;
  std::uint8_t* keep;
  TCSOLVE_HD void operator()(CsrView<double> const& p, std::int64_t i) const {
    Offset const begin = p.offsets[i], end = p.offsets[i + 1];
    for (Offset k = begin; k < end; ++k) {
      int before = 0;
      double const own = magnitude(p.values[k]);
      for (Offset l = begin; l < end && before < most; ++l) {
        double const other = magnitude(p.values[l]);
        before += other > own || (other == own && l < k);
      }
      keep[k] = before < most;
    }
  }
};
template <class On>
void mark_largest(On& on, CsrView<double> const& p, int most, std::uint8_t* keep) {
  on.each_row(p.rows, p, MarkLargest{most, keep});
}

/// What is kept of a row times what keeps its sum.
struct KeepSums {
  CsrView<double> all, kept;
  double* to;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const begin = kept.offsets[i], end = kept.offsets[i + 1];
    Offset at = begin;
    double whole = 0, left = 0;
    for (Offset k = all.offsets[i], stop = all.offsets[i + 1]; k < stop; ++k) {
      whole += all.values[k];
      if (at == end || kept.columns[at] != all.columns[k]) continue;
      left += all.values[k];
      to[at++] = all.values[k];
    }
    double const factor = left != 0 ? whole / left : 1.0;
    for (Offset k = begin; k < end; ++k) to[k] *= factor;
  }
};
template <class On>
void keep_sums(On& on, CsrView<double> const& all, CsrView<double> const& kept, double* to) {
  on.each(all.rows, KeepSums{all, kept, to});
}

}  // namespace tcsolve
