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
  int ranks = 1;
  std::vector<std::int64_t> wanted;  ///< (ranks, ranks) by rank r of rank s, the same on all

  HaloPlan() = default;
  /// For these global numbers, ascending, none of them this rank's. Every rank calls it. Cost: a
  /// sum, and a message to each owner.
  HaloPlan(Ranks&, Stretches const& columns, std::vector<std::int64_t> numbers);
  Index halo() const { return static_cast<Index>(numbers.size()); }

  /// Of any rank: how long its halo is, and where in it the values of `owner` begin ...
  std::int64_t halo_of(int rank) const { return first_of(rank, ranks); }
  std::int64_t first_of(int rank, int owner) const {
    std::int64_t sum = 0;
    for (int s = 0; s < owner; ++s) sum += wanted[place(rank, s)];
    return sum;
  }
  /// ... how many values it sends, and where in them those for `to` begin.
  std::int64_t sent_of(int rank) const { return first_sent_of(rank, ranks); }
  std::int64_t first_sent_of(int rank, int to) const {
    std::int64_t sum = 0;
    for (int r = 0; r < to; ++r) sum += wanted[place(r, rank)];
    return sum;
  }

 private:
  std::size_t place(int r, int s) const {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(ranks) +
           static_cast<std::size_t>(s);
  }
};

}  // namespace tcsolve
