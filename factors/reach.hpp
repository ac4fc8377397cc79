// SPDX-License-Identifier: Apache-2.0
/// How many rows a few steps along the entries of a matrix lead to.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include <tcsolve/factors/each_row.hpp>

namespace tcsolve {

/// The sum over the rows i = every - 1, 2 every - 1, ... of the rows w != i that at most `steps`
/// steps lead to and counts(i, w) takes. neighbours(v, f) calls f(w) for the steps from v; they go
/// on from w where passes(i, w). Cost: the searches, on all threads; 4 bytes a row for each.
template <class Neighbours, class Counts, class Passes>
Offset count_reached(Context& ctx, Index rows, Index every, int steps, Neighbours const& neighbours,
                     Counts const& counts, Passes const& passes) {
  std::atomic<Offset> total{0};
  Index const searches = rows / every;
  Index const stretch = searches / 64 + 1;  // of one thread, which has its marks for these
  each_row(ctx, searches, stretch, [&](Index k) {
    thread_local std::vector<Index> seen_by, open, next;
    if (k % stretch == 0) seen_by.assign(static_cast<std::size_t>(rows), -1);
    Index const i = (k + 1) * every - 1;
    Offset count = 0;
    seen_by[i] = i;
    open.assign(1, i);
    for (int step = 0; step < steps && !open.empty(); ++step) {
      next.clear();
      for (Index const v : open)
        neighbours(v, [&](Index w) {
          if (std::exchange(seen_by[w], i) == i) return;
          count += counts(i, w);
          if (passes(i, w)) next.push_back(w);
        });
      std::swap(open, next);
    }
    total.fetch_add(count, std::memory_order_relaxed);
  });
  return total;
}

}  // namespace tcsolve
