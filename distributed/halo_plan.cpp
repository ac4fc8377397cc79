// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/halo_plan.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {

int Stretches::owner(std::int64_t i) const {
  // The last one that begins at i or before: those before it that begin there too are empty.
  return static_cast<int>(std::ranges::upper_bound(starts, i) - starts.begin()) - 1;
}

HaloPlan::HaloPlan(Ranks& ranks, Stretches const& columns, std::vector<std::int64_t> wanted)
    : numbers(std::move(wanted)) {
  int const me = ranks.rank();
  std::int64_t const first = columns.first(me);
  own = narrow(columns.size(me), "columns of a rank");
  std::vector<std::vector<std::int64_t>> asked(static_cast<std::size_t>(ranks.ranks()));
  for (std::int64_t const i : numbers)
    asked[static_cast<std::size_t>(columns.owner(i))].push_back(i);
  auto const given = all_to_all(ranks, asked);
  Index place = 0;
  for (int r = 0; r < ranks.ranks(); ++r) {
    auto const& from = asked[static_cast<std::size_t>(r)];
    auto const& to = given[static_cast<std::size_t>(r)];
    if (r == me || (from.empty() && to.empty())) continue;
    Neighbour n{r, place, static_cast<Index>(from.size()), static_cast<Index>(sent.size()),
                static_cast<Index>(to.size())};
    for (std::int64_t const i : to) sent.push_back(static_cast<Index>(i - first));
    place += n.count;
    neighbours.push_back(n);
  }
}

}  // namespace tcsolve
