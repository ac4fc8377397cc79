// SPDX-License-Identifier: Apache-2.0
/// The host's parallel loop (Kokkos), and a reduction whose result does not depend on the number of
/// threads. Included by kernels/host only: nothing else of the package sees Kokkos.
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include <tcsolve/kernels/operation.hpp>

namespace tcsolve::host {

/// Starts Kokkos once a process unless the caller has; ends it at exit.
void start();
/// Kokkos runs one parallel region at a time: Contexts on several threads take turns.
std::mutex& region();

/// f(i) for i in [0, n); serial when the loop is too small to share.
template <class F>
void parallel(std::int64_t n, std::int64_t serial_below, F const& f) {
  if (n < serial_below) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
    return;
  }
  start();
  std::lock_guard<std::mutex> one_region(region());
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>(0, n),
      f);
  Kokkos::DefaultHostExecutionSpace().fence();
}

constexpr std::int64_t chunk = 4096;  ///< elements that one partial sum covers

/// f(begin, end, partial) for each chunk of [0, n); the partial sums are added in chunk order.
template <int sums, class F, class Combine>
std::array<double, sums> reduce(std::int64_t n, F const& f, Combine const& combine) {
  std::array<double, sums> total{};
  std::int64_t chunks = (n + chunk - 1) / chunk;
  std::vector<std::array<double, sums>> partial(static_cast<std::size_t>(chunks));
  parallel(chunks, 2, [&](std::int64_t c) {
    std::array<double, sums> sum{};
    f(c * chunk, std::min(n, (c + 1) * chunk), sum.data());
    partial[static_cast<std::size_t>(c)] = sum;
  });
  for (auto const& p : partial)
    for (int k = 0; k < sums; ++k) total[k] = combine(total[k], p[k]);
  return total;
}

}  // namespace tcsolve::host
