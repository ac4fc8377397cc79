// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/residual.hpp>

#include <tcsolve/kernels/verb_list.hpp>

namespace tcsolve::host {

namespace {

template <class V>
[[gnu::always_inline]] inline void each(V const verb, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) verb.element(i, {}, nullptr);
}

#if defined(__x86_64__) && !defined(__FMA__)
template <class V>
[[gnu::target("fma"), gnu::flatten]] void each_fused(V const& verb, std::int64_t begin,
                                                     std::int64_t end) {
  each(verb, begin, end);
}
bool const fused = __builtin_cpu_supports("fma") != 0;
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
