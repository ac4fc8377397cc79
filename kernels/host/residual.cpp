// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/residual.hpp>

#include <algorithm>
#include <cmath>

#include <tcsolve/kernels/verb_list.hpp>

namespace tcsolve::host {

namespace {

template <class V>
[[gnu::always_inline]] inline void each(V const verb, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) verb.element(i, {}, nullptr);
}

/// Sums side by side, in vectors: those of the lines of a slice, or of neighbouring rows. The same
/// additions in the same order as one after the other.
template <int count>
struct Sums {
  double high[count] = {}, low[count] = {};
  [[gnu::always_inline]] void subtract_product(std::int64_t i, double a, double x) {
    Twofold sum{high[i], low[i]};
    sum.subtract_product(a, x);
    high[i] = sum.high, low[i] = sum.low;
  }
};

/// By diagonals, some rows at a time. What stands for no entry is -0, which changes no sum unless
/// it meets an Inf or NaN of x: such a row is added anew.
[[gnu::always_inline]] inline void each(ExactResidual<DiaView<double>> const verb,
                                        std::int64_t begin, std::int64_t end) {
  constexpr int most = 256;
  DiaView<double> const& a = verb.a;
  for (std::int64_t first = begin; first < end; first += most) {
    std::int64_t const last = std::min(first + most, end);
    Sums<most> sums;
    for (Index k = 0; k < a.count; ++k) {
      DiaDiagonal const d = a.diagonals[k];
      std::int64_t const low = std::max<std::int64_t>(first, -std::int64_t{d.offset});
      std::int64_t const high = std::min<std::int64_t>(last, std::int64_t{a.cols} - d.offset);
      std::int64_t const inside = std::min<std::int64_t>(high, std::int64_t{d.last} + 1);
      double const* const values = a.values + d.start;
      double const* const x = verb.v.x + d.offset;
      std::int64_t const begins = low - first, ends = inside - first;
      for (std::int64_t i = begins; i < ends; ++i)
        sums.subtract_product(i, values[first + i], x[first + i]);
      if (inside < high && !is_hole(values[d.last]))
        for (std::int64_t i = std::max(low, inside); i < high; ++i)
          sums.subtract_product(i - first, values[d.last], x[i]);
    }
    for (std::int64_t i = first; i < last; ++i) {
      Twofold const sum{sums.high[i - first], sums.low[i - first]};
      if (std::isfinite(sum.high))
        verb.v.finish(i, sum);
      else
        verb.element(i, {}, nullptr);
    }
  }
}

/// Slice by slice; padding is 0, with the same exception.
[[gnu::always_inline]] inline void each(ExactResidual<SellView<double>> const verb,
                                        std::int64_t begin, std::int64_t end) {
  constexpr int C = SellView<double>::C;
  SellView<double> const& a = verb.a;
  for (std::int64_t first = begin; first < end; first += C) {
    if (first + C > a.rows) {  // lanes beyond the last row hold nothing
      for (std::int64_t i = first; i < end; ++i) verb.element(i, {}, nullptr);
      return;
    }
    SellSlice const slice = a.slices[first / C];
    double const* values = a.values + slice.values;
    Sums<C> sums;
    auto add = [&](auto const* columns, double const* x) {
      for (Index j = 0; j < slice.width; ++j, values += C, columns += C) {
        double factor[C];
        for (int l = 0; l < C; ++l) factor[l] = x[columns[l]];
        for (int l = 0; l < C; ++l) sums.subtract_product(l, values[l], factor[l]);
      }
    };
    if (slice.wide != 0)
      add(a.columns + slice.indices, verb.v.x);
    else
      add(a.deltas + slice.indices, verb.v.x + slice.base);
    for (int l = 0; l < C; ++l) {
      Twofold const sum{sums.high[l], sums.low[l]};
      if (std::isfinite(sum.high))
        verb.v.finish(first + l, sum);
      else
        verb.element(first + l, {}, nullptr);
    }
  }
}

/// Slice by slice.
[[gnu::always_inline]] inline void each(ExactResidual<CsellView<double>> const verb,
                                        std::int64_t begin, std::int64_t end) {
  constexpr int C = CsellView<double>::C;
  CsellView<double> const& a = verb.a;
  for (std::int64_t first = begin; first < end; first += C) {
    Index const s = static_cast<Index>(first / C);
    CsellStrip const strip = a.strips[s / a.depth];
    double const* const values = a.values + Offset{strip.first} * C;
    Index const from = s % a.depth == 0 ? 0 : a.ends[s - 1], to = a.ends[s];
    Sums<C> sums;
    auto add = [&]<class I>(I const* numbers) {
      for (Index j = from; j < to; ++j) {
        Offset const at = a.place(j, 0);
        std::int64_t const base = a.bases[strip.first + j];
        double value[C], factor[C];
        for (int l = 0; l < C; ++l) {
          I const number = numbers[at + 2 * l];
          bool const hole = number == csell_hole<I>;
          value[l] = hole ? 0.0 : values[at + 2 * l];
          factor[l] = hole ? 0.0 : verb.v.x[base + static_cast<Index>(number)];
        }
        for (int l = 0; l < C; ++l) sums.subtract_product(l, value[l], factor[l]);
      }
    };
    std::uint8_t const* const numbers = a.numbers + Offset{strip.numbers} * 64;
    if (strip.bytes == 1)
      add(numbers);
    else if (strip.bytes == 2)
      add(reinterpret_cast<std::uint16_t const*>(numbers));
    else
      add(reinterpret_cast<std::int32_t const*>(numbers));
    for (std::int64_t line = first; line < std::min(first + C, end); ++line) {
      Twofold const sum{sums.high[line - first], sums.low[line - first]};
      std::int32_t const row = a.order == nullptr ? static_cast<Index>(line) : a.order[line];
      if (row < 0)
        verb.parts[~row] = sum;
      else
        verb.v.finish(row, sum);
    }
  }
}

#if defined(__x86_64__) && !defined(__FMA__)
template <class V>
[[gnu::target("fma,avx2"), gnu::flatten]] void each_fused(V const& verb, std::int64_t begin,
                                                          std::int64_t end) {
  each(verb, begin, end);
}
bool const fused = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
#endif

template <class V>
void run(V const& verb, std::int64_t begin, std::int64_t end) {
#if defined(__x86_64__) && !defined(__FMA__)
  if (fused) return each_fused(verb, begin, end);
#endif
  each(verb, begin, end);
}

}  // namespace

template <class View>
void walk(ExactResidual<View> const& verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*) {
  run(verb, begin, end);
}
template <class View>
void walk(JoinResidual<View> const& verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*) {
  run(verb, begin, end);
}
void walk(ShiftResidual const& verb, NoCoefficients, std::int64_t begin, std::int64_t end,
          double*) {
  run(verb, begin, end);
}

#define TCSOLVE_INSTANTIATE(V) \
  template void walk(V const&, NoCoefficients, std::int64_t, std::int64_t, double*);
TCSOLVE_EXACT_RESIDUALS(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve::host
