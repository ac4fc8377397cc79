// SPDX-License-Identifier: Apache-2.0
/// The host's parallel loop, and a reduction whose result does not depend on the number of threads.
/// Included by what runs on the host alone.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <tcsolve/kernels/host/sums.hpp>
#include <tcsolve/kernels/host/workers.hpp>

namespace tcsolve::host {

/// Runs `stretch` over [0, n) by Kokkos, on the threads that the Context at work may use
/// (Context::visit; outside of one, thread_count(0)). Loops of several host threads run side by
/// side. The caller gets what the body throws.
void parallel_stretches(std::int64_t n, Stretch stretch);

/// f(i) for i in [0, n); serial when the loop is too small to share.
template <class F>
void parallel(std::int64_t n, std::int64_t serial_below, F const& f) {
  Stretch const stretch{[](void const* body, std::int64_t begin, std::int64_t end) {
                          F const& each = *static_cast<F const*>(body);
                          for (std::int64_t i = begin; i < end; ++i) each(i);
                        },
                        &f};
  if (n < serial_below)
    stretch.call(stretch.body, 0, n);
  else
    parallel_stretches(n, stretch);
}

constexpr std::int64_t chunk = 4096;  ///< elements that one partial sum covers

/// f(begin, end, partial) for each chunk of [0, n); the partial sums are added in chunk order.
template <class V, int sums, class F>
std::array<double, sums> reduce(Host const& on, std::int64_t n, F const& f) {
  std::array<double, sums> total{};
  std::int64_t chunks = (n + chunk - 1) / chunk;
  std::vector<std::array<double, sums>> partial(static_cast<std::size_t>(chunks));
  parallel(chunks, 2, [&](std::int64_t c) {
    std::array<double, sums> sum{};
    f(c * chunk, std::min(n, (c + 1) * chunk), sum.data());
    partial[static_cast<std::size_t>(c)] = sum;
  });
  static_assert(sizeof(partial[0]) == sums * sizeof(double));
  end_sums<V>(on, chunks > 0 ? partial[0].data() : nullptr, chunks, sums, total.data());
  return total;
}

}  // namespace tcsolve::host
