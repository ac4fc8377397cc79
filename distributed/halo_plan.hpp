// SPDX-License-Identifier: Apache-2.0
/// Which entries of a vector go from rank to rank, so that each has those that its rows refer to.
///
///     x of rank 1     own  0 1 2 3 4     its stretch of the global numbers
///                     halo 0 1 | 2       columns of others that its rows have, by owner, ascending
///                          from 0  from 2
///
///     sent            own places that others have as halo, neighbour after neighbour
///
/// A neighbour is a rank to which something goes or from which something comes.
#pragma once

#include <cstdint>
#include <vector>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// Consecutive global numbers of each rank: rank r has [starts[r], starts[r + 1]).
struct Stretches {
  std::vector<std::int64_t> starts{0, 0};
  std::int64_t size() const { return starts.back(); }
  std::int64_t first(int rank) const { return starts[static_cast<std::size_t>(rank)]; }
  std::int64_t size(int rank) const {
    return starts[static_cast<std::size_t>(rank) + 1] - first(rank);
  }
  friend bool operator==(Stretches const&, Stretches const&) = default;
};

struct HaloPlan {
  struct Neighbour {
    int rank = 0;
    Index first = 0, count = 0;            ///< halo places that come from it
    Index first_sent = 0, sent_count = 0;  ///< of `sent`, what goes to it
  };
  Index own = 0;                      ///< entries of a vector here
  std::vector<std::int64_t> numbers;  ///< (halo) global, ascending
  std::vector<Index> sent;            ///< own places
  std::vector<Neighbour> neighbours;  ///< by rank

  HaloPlan() = default;
  /// For the global numbers `wanted`, ascending, none of them this rank's. Every rank calls it.
  /// Cost: a message to each owner.
  HaloPlan(Ranks&, Stretches const& columns, std::vector<std::int64_t> wanted);
  Index halo() const { return static_cast<Index>(numbers.size()); }
};

}  // namespace tcsolve
