// SPDX-License-Identifier: Apache-2.0
/// Both triangular solves of M x on the host for an x that is zero but for few entries: only the
/// rows that they reach are visited (factors/apply/reach.hpp).
///
///     x    . . . 3 . .        L y = P R x    rows 3 and 5        U z = D^-1 y    rows 5, 4, 3, 1
///
/// The rows visited get the bits of the full solves; all others are zero, where finite factors
/// leave a zero of either sign. An entry that is Inf or NaN is an entry like others.
#pragma once

#include <optional>
#include <vector>

#include <tcsolve/factors/apply/reach.hpp>

namespace tcsolve {

template <class S>
class SparseSolves {
 public:
  /// What is solved: L y = P R x with the unknowns of M last among those of L, then U.
  struct Triangles {
    TriangleView<S> const &lower, &upper;
    LevelOrder const& upper_order;
    TriangleSolve down, up;  ///< of one column; up.source is set here
    Index rows = 0;          ///< of M
  };

  /// Whether x has few entries: at most one in 32 rows. Cost: one pass over x, or the part of it
  /// that holds so many.
  static bool few_entries(TriangleSolve const& down, Index rows);
  /// Solves both, or writes nothing and returns false where it would not be quicker than in full:
  /// x has more entries than few; fewer than `worth_patterns` were solved before, whose full solves
  /// the reach's two passes over the factors are weighed against; the reach in L is not a small
  /// part; or so often it was none before that looking for it has cost more than it has saved. A
  /// large reach in U alone: U is solved in full, its unknowns in z (rows).
  bool solve(host::Host&, Triangles const&, double* z);

  /// Entries that the last solve by reaches has gone through.
  Offset visited() const { return visited_; }

  static constexpr int worth_patterns = 4;

 private:
  void prepare(Triangles const&);

  int asked_ = 0;
  std::optional<TriangleReach> lower_, upper_;
  std::vector<Index> row_of_;  // of L, by the row of x
  std::vector<double> y_, z_;  // zero between solves
  std::vector<Index> seeds_;
  Offset saved_ = 0, wasted_ = 0, visited_ = 0;  // entries
};

}  // namespace tcsolve
