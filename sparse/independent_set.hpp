// SPDX-License-Identifier: Apache-2.0
/// A maximal independent set of the graph of A + A^T at distance 1 or 2, in the Context's space: no
/// two members are joined by a path of `distance` edges or fewer, and every other vertex is that
/// near to a member. What aggregates are grown from at distance 2, and multicoloured sweeps at
/// distance 1.
///
///     IndependentSet const roots = independent_set(ctx, a, 2);
///
///     in each round, of those that wait: i joins when its word is the largest within `distance`
///                of it; then all within `distance` of a member wait no more
///
/// until none waits (Luby 1986, A simple parallel algorithm for the maximal independent set
/// problem; for distance k Bell, Dalton and Olson 2012, Exposing fine-grained parallelism in
/// algebraic multigrid methods). Words are new in every round, and a round goes through lists of
/// what it may still change (Kelley and Rajamanickam 2022, Parallel, portable algorithms for
/// distance-2 maximal independent set and graph coarsening): with words that stay, a vertex beside
/// great ones waits for each of them in turn. The same set on every run and backend.
///
/// Cost: some six rounds for a grid at distance 2, the first of three passes over the pattern with
/// 4 bytes an entry at random, of a quarter of the vertices each next one; where the pattern is not
/// known to be symmetric, a transpose (sparse/transpose.hpp).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

struct IndependentSet {
  Array<Index> numbers;  ///< (rows) of the members in ascending order, -1 for all others
  Index count = 0;       ///< of members
};

/// What vertices are compared by in a round, in [1, 2^31]. For one round it is a bijection of the
/// numbers, so that no two words are equal and none needs the number beside a hash: every step is
/// one in the 31 bits of a number, the mixer of MurmurHash3 (Appleby 2011) cut to them.
TCSOLVE_HD std::uint32_t independent_word(Index i, int round) {
  constexpr std::uint32_t bits = 0x7fffffffu;
  std::uint32_t z =
      (static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(round) * 0x9e3779b9u) & bits;
  z ^= z >> 16;
  z = (z * 0x85ebca6bu) & bits;
  z ^= z >> 13;
  z = (z * 0xc2b2ae35u) & bits;
  return (z ^ (z >> 16)) + 1;
}

enum class Edges {
  either_way,  ///< i and j are neighbours where a_ij or a_ji is stored
  symmetric    ///< the pattern is symmetric, the caller knows: no transpose is made
};

/// Of a, canonical, square, in the Context's space; values are not read and may be null. Throws
/// ShapeError where it is not, or for a distance other than 1 and 2.
template <class T>
IndependentSet independent_set(Context&, CsrView<T> const& a, int distance,
                               Edges edges = Edges::either_way);

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
/// Neighbours are the entries of a and, unless the rows of `back` are none, of back.
sparse::IndependentSet independent_set(Host&, Arena&, PatternView const& a, PatternView const& back,
                                       int distance);
}  // namespace host
namespace cuda {
sparse::IndependentSet independent_set(Device&, Arena&, PatternView const& a,
                                       PatternView const& back, int distance);
}  // namespace cuda
}  // namespace tcsolve
