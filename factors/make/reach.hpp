// SPDX-License-Identifier: Apache-2.0
/// How many rows a few steps along the entries of a matrix lead to.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include <tcsolve/factors/each_row.hpp>

namespace tcsolve {

/// The sum over the rows i = every - 1, 2 every - 1, ... of the rows w != i that at most `steps`
/// steps lead to and counts(i, w) takes, of each i at most `most`. neighbours(v, f) calls f(w) for
/// the steps from v; they go on from w where passes(i, w). Cost: the searches, on all threads; 4
/// bytes a row for each thread.
template <class Neighbours, class Counts, class Passes>
Offset count_reached(Context& ctx, Index rows, Index every, int steps, Neighbours const& neighbours,
                     Counts const& counts, Passes const& passes,
                     Offset most = std::numeric_limits<Offset>::max()) {
  std::atomic<Offset> total{0};
  Index const searches = rows / every;
  struct Marks {
    std::vector<Index> seen_by, open, next;  // seen_by: the last search that came by
  };
  auto const make = [&] { return Marks{std::vector<Index>(rows, -1), {}, {}}; };
  each_row_with(ctx, searches, searches / 64 + 1, make, [&](Index k, Marks& m) {
    Index const i = (k + 1) * every - 1;
    Offset count = 0;
    m.seen_by[i] = i;
    m.open.assign(1, i);
    for (int step = 0; step < steps && !m.open.empty(); ++step) {
      m.next.clear();
      for (Index const v : m.open)
        neighbours(v, [&](Index w) {
          if (std::exchange(m.seen_by[w], i) == i) return;
          count += counts(i, w);
          if (passes(i, w)) m.next.push_back(w);
        });
      std::swap(m.open, m.next);
    }
    total.fetch_add(std::min(count, most), std::memory_order_relaxed);
  });
  return total;
}

}  // namespace tcsolve
