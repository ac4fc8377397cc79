// SPDX-License-Identifier: Apache-2.0
/// Where sums end on the host (kernels/sums.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include <tcsolve/kernels/sums.hpp>

namespace tcsolve::host {

/// total_k, as it is, and parts[b * width + k] for b < count, in their order; then, where there are
/// other ranks, total_k of all of them in rank order, the same bits on each.
template <class V>
void end_sums(Host const& on, double const* parts, std::int64_t count, std::int64_t width,
              double* total) {
  auto const add = [=](double const* from, std::int64_t rows) {
    auto const part = [=](std::int64_t b, std::int64_t k) { return from[b * width + k]; };
    add_parts<V, std::int64_t>(part, 0, rows, 1, total, width);
  };
  add(parts, count);
  if (!on.ranks->extends_sums()) return;
  std::vector<double> all(static_cast<std::size_t>(on.ranks->ranks() * width));
  on.ranks->gather(total, width, all.data());
  std::fill_n(total, width, 0.0);
  add(all.data(), on.ranks->ranks());
}

}  // namespace tcsolve::host
