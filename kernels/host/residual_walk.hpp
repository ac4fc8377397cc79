// SPDX-License-Identifier: Apache-2.0
/// The residual that decides, on the host. Included by the files that instantiate it for a format,
/// which are compiled without contractions (CMakeLists.txt); and compiled once more for processors
/// that have a fused multiply-add, since a call for each costs several times the rest.
///
///     template struct WalksExactly<OpList<ExactResidual<View<double>>>>;   // before Executes<...>
#pragma once

#include <cmath>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual.hpp>

namespace tcsolve::host {

/// Elements [begin, end), one after the other. A format whose sums become vectors specialises it,
/// with the same additions in the same order.
template <class V>
struct Each {
  [[gnu::always_inline]] static inline void run(V const op, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) op.element(i, {}, nullptr);
  }
};

/// Rows side by side, in vectors: those of the lines of a slice, or neighbours.
template <int count>
struct RowSums {
  double high[count] = {}, low[count] = {}, size[count] = {}, weight[count] = {}, doubt[count] = {};
  [[gnu::always_inline]] void subtract_product(std::int64_t i, double a, double x) {
    RowSum row = (*this)[i];
    row.subtract_product(a, x);
    high[i] = row.sum.high, low[i] = row.sum.low, size[i] = row.size, weight[i] = row.weight,
    doubt[i] = row.doubt;
  }
  [[gnu::always_inline]] RowSum operator[](std::int64_t i) const {
    return {{high[i], low[i]}, size[i], weight[i], doubt[i]};
  }
};

#if defined(__x86_64__) && !defined(__FMA__)
template <class V>
[[gnu::target("fma,avx2"), gnu::flatten]] void each_fused(V const& op, std::int64_t begin,
                                                          std::int64_t end) {
  Each<V>::run(op, begin, end);
}
inline bool has_fused_multiply_add() {
  static bool const has = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

template <class V>
void walk_exactly(V const& op, std::int64_t begin, std::int64_t end) {
#if defined(__x86_64__) && !defined(__FMA__)
  if (has_fused_multiply_add()) return each_fused(op, begin, end);
#endif
  Each<V>::run(op, begin, end);
}

/// Instantiates walk_exactly() for each operation of a list.
template <class List>
struct WalksExactly;
template <class... V>
struct WalksExactly<OpList<V...>> {
  static constexpr std::tuple<void (*)(V const&, std::int64_t, std::int64_t)...> all{
      &walk_exactly<V>...};
};

}  // namespace tcsolve::host
