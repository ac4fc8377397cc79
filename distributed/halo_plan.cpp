// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/halo_plan.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {

HaloPlan::HaloPlan(Ranks& ranks, Stretches const& columns, std::vector<std::int64_t> wanted)
    : numbers(std::move(wanted)) {
  int const me = ranks.rank();
  std::int64_t const first = columns.first(me);
  own = narrow(columns.size(me), "columns of a rank");
  std::vector<std::vector<std::int64_t>> asked(static_cast<std::size_t>(ranks.ranks()));
  auto from = numbers.begin();
  for (int r = 0; r < ranks.ranks(); ++r) {
    auto const end = std::lower_bound(from, numbers.end(), columns.first(r) + columns.size(r));
    asked[static_cast<std::size_t>(r)].assign(from, end);
    from = end;
  }
  auto const given = all_to_all(ranks, asked);
  Index place = 0;
  for (int r = 0; r < ranks.ranks(); ++r) {
    auto const& mine = asked[static_cast<std::size_t>(r)];
    auto const& theirs = given[static_cast<std::size_t>(r)];
    if (r == me || (mine.empty() && theirs.empty())) continue;
    Neighbour n{r, place, static_cast<Index>(mine.size()), static_cast<Index>(sent.size()),
                static_cast<Index>(theirs.size())};
    for (std::int64_t const i : theirs) sent.push_back(static_cast<Index>(i - first));
    place += n.count;
    neighbours.push_back(n);
  }
}

}  // namespace tcsolve
