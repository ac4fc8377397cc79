// SPDX-License-Identifier: Apache-2.0
/// Runs any fused operation on the host. Included by the files that instantiate operations
/// (host.cpp of a folder), which say so of a list of them:
///
///     template struct Executes<CgOps<double>>;
#pragma once

#include <algorithm>
#include <tuple>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve::host {

/// How a thread takes the elements of an operation: one after the other. One that is faster in
/// another way has a specialisation, in the file that instantiates it, with the same additions in
/// the same order.
template <class V>
struct Walk {
  /// Elements [begin, end). By value: what an element writes cannot be the operands.
  static void elements(V const op, typename CoefficientsOf<V>::type const c, std::int64_t begin,
                       std::int64_t end, double* sum) {
    for (std::int64_t i = begin; i < end; ++i) op.element(i, c, sum);
  }
  /// Elements that a thread takes at a time.
  static std::int64_t grain(V const&) { return chunk; }
};

template <class V>
void execute(Host& on, LoopState* state, V const& op) {
  using Traits = OpTraits<V>;
  Frame frame{state, true};
  auto after = [&] {
    if constexpr (Traits::afters) op.after(frame);
  };
  if (frame.stopped() && !Traits::always) return after();
  typename CoefficientsOf<V>::type c{};
  if constexpr (Traits::prepares)
    if (!op.prepare(frame, c)) return after();
  auto run = [op, c](std::int64_t begin, std::int64_t end, double* sum) {
    Walk<V>::elements(op, c, begin, end, sum);
  };
  if constexpr (Traits::sums > 0) {
    auto total = reduce<V, Traits::sums>(on, op.n, run);
    conclude(op, frame, total.data());
  } else {
    std::int64_t size = Walk<V>::grain(op);
    parallel((op.n + size - 1) / size, 2,
             [&](std::int64_t k) { run(k * size, std::min(op.n, (k + 1) * size), nullptr); });
    if constexpr (Traits::finishes) conclude(op, frame, nullptr);
  }
  after();
}

/// Instantiates execute() for each operation of a list.
template <class List>
struct Executes;
template <class... V>
struct Executes<OpList<V...>> {
  static constexpr std::tuple<void (*)(Host&, LoopState*, V const&)...> all{&execute<V>...};
};

}  // namespace tcsolve::host
