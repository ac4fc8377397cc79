// SPDX-License-Identifier: Apache-2.0
/// A maximal independent set of the graph of A + A^T at distance 1 or 2, in the Context's space: no
/// two members are joined by a path of `distance` edges or fewer, and every other vertex is that
/// near to a member. What aggregates are grown from at distance 2, and multicoloured sweeps at
/// distance 1.
///
///     IndependentSet const roots = independent_set(ctx, a, 2);
///
///     i joins when, among the vertices within `distance` of it, none has joined and none of
///     greater priority waits
///
/// until none waits (Luby 1986, A simple parallel algorithm for the maximal independent set
/// problem; for distance k Bell, Dalton and Olson 2012, Exposing fine-grained parallelism in
/// algebraic multigrid methods). Priorities are independent_priority(i), a hash of the number: the
/// set is that of going through the vertices by descending priority, the same on every run and
/// backend.
///
/// Cost: some log2(rows) rounds, each `distance` passes over the pattern with 8 bytes an entry at
/// random, and a word to the host; where the pattern is not known to be symmetric, a transpose
/// (sparse/transpose.hpp).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

struct IndependentSet {
  Array<Index> numbers;  ///< (rows) of the members in ascending order, -1 for all others
  Index count = 0;       ///< of members
};

/// What vertices are compared by: 29 bits of a hash (Steele, Lea and Flood 2014, Fast splittable
/// pseudorandom number generators), then the number itself, so that no two are equal.
TCSOLVE_HD std::int64_t independent_priority(Index i) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return static_cast<std::int64_t>((z >> 35) << 32 | static_cast<std::uint64_t>(i));
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
