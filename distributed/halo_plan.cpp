// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/halo_plan.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {

HaloPlan::HaloPlan(Ranks& all, Stretches const& columns, std::vector<std::int64_t> mine)
    : numbers(std::move(mine)), ranks(all.ranks()) {
  int const me = all.rank();
  std::int64_t const first = columns.first(me);
  own = narrow(columns.size(me), "columns of a rank");
  std::vector<double> asked(static_cast<std::size_t>(ranks));
  auto from = numbers.begin();
  for (int r = 0; r < ranks; ++r) {
    auto const end = std::lower_bound(from, numbers.end(), columns.first(r) + columns.size(r));
    asked[static_cast<std::size_t>(r)] = static_cast<double>(end - from);
    from = end;
  }
  std::vector<double> const sizes = detail::message_sizes(all, asked);
  wanted.assign(sizes.begin(), sizes.end());

  std::vector<std::int64_t> given(static_cast<std::size_t>(sent_of(me)));
  std::vector<Ranks::Outgoing> out;
  std::vector<Ranks::Incoming> in;
  for (int r = 0; r < ranks; ++r) {
    Neighbour const n{
        r, static_cast<Index>(first_of(me, r)), static_cast<Index>(wanted[place(me, r)]),
        static_cast<Index>(first_sent_of(me, r)), static_cast<Index>(wanted[place(r, me)])};
    if (r == me || (n.count == 0 && n.sent_count == 0)) continue;
    constexpr std::size_t each = sizeof(std::int64_t);
    if (n.count > 0)
      out.push_back({r, numbers.data() + n.first, static_cast<std::size_t>(n.count) * each});
    if (n.sent_count > 0)
      in.push_back({r, given.data() + n.first_sent, static_cast<std::size_t>(n.sent_count) * each});
    neighbours.push_back(n);
  }
  if (!neighbours.empty()) {
    all.begin_exchange(out, in);
    all.end_exchange();
  }
  sent.reserve(given.size());
  for (std::int64_t const i : given) sent.push_back(static_cast<Index>(i - first));
}

}  // namespace tcsolve
