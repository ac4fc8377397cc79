// SPDX-License-Identifier: Apache-2.0
/// Runs any verb on the host.
#include <algorithm>

#include <tcsolve/kernels/host/dia.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/host/residual.hpp>
#include <tcsolve/kernels/host/sell.hpp>
#include <tcsolve/kernels/verb_list.hpp>

namespace tcsolve::host {

/// Elements [begin, end), one after the other. A verb that is faster in another way overloads it.
/// By value: what an element writes cannot be the operands.
template <class V>
void walk(V const verb, typename CoefficientsOf<V>::type const c, std::int64_t begin,
          std::int64_t end, double* sum) {
  for (std::int64_t i = begin; i < end; ++i) verb.element(i, c, sum);
}

/// Elements that a thread takes at a time.
template <class V>
std::int64_t task(V const&) {
  return chunk;
}

template <class V>
void sweep(Host&, LoopState* state, V const& verb) {
  using Traits = VerbTraits<V>;
  Frame frame{state, true};
  auto after = [&] {
    if constexpr (Traits::afters) verb.after(frame);
  };
  if (frame.stopped() && !Traits::always) return after();
  typename CoefficientsOf<V>::type c{};
  if constexpr (Traits::prepares)
    if (!verb.prepare(frame, c)) return after();
  auto run = [verb, c](std::int64_t begin, std::int64_t end, double* sum) {
    walk(verb, c, begin, end, sum);
  };
  if constexpr (Traits::sums > 0) {
    auto total = reduce<Traits::sums>(verb.n, run, combine<V>);
    verb.finish(frame, total.data());
  } else {
    std::int64_t size = task(verb);
    parallel((verb.n + size - 1) / size, 2,
             [&](std::int64_t k) { run(k * size, std::min(verb.n, (k + 1) * size), nullptr); });
    if constexpr (Traits::finishes) verb.finish(frame, nullptr);
  }
  after();
}

#define TCSOLVE_INSTANTIATE(V) template void sweep<V>(Host&, LoopState*, V const&);
TCSOLVE_VERBS(TCSOLVE_INSTANTIATE)

template <class T>
void gram(Host&, LoopState* state, Gram<T> const& verb) {
  Frame frame{state, true};
  if (frame.stopped()) return;
  Index j = frame.step();
  for (Index k = 0; k <= j; ++k) {
    T const* column = verb.column(j, k);
    auto dots = [&](std::int64_t begin, std::int64_t end, double* sum) {
      for (std::int64_t i = begin; i < end; ++i) {
        double a = double(column[i]), wi = double(verb.w[i]);
        sum[0] += a * double(verb.u[i]);
        sum[1] += a * wi;
        if (k == j) sum[2] += wi * wi;
      }
    };
    auto sum = reduce<3>(verb.n, dots, [](double a, double b) { return a + b; });
    std::copy_n(sum.begin(), k == j ? 3 : 2, verb.H.sums + 2 * k);
  }
  for (Index k = 0; k <= j; ++k) verb.entry(j, k);
  verb.finish(frame);
}
template void gram<double>(Host&, LoopState*, Gram<double> const&);
template void gram<float>(Host&, LoopState*, Gram<float> const&);

}  // namespace tcsolve::host
