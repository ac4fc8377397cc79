// SPDX-License-Identifier: Apache-2.0
/// The unknowns of a triangular system that a sparse right-hand side reaches (Gilbert and Peierls
/// 1988, "Sparse partial pivoting in time proportional to arithmetic operations"): all others are
/// zero, whatever the values are.
///
///     L = [ 1           ]     b = [ . ]     reach of row 1: 1 and 3, in this order
///         [ 5  1        ]         [ 2 ]
///         [ .  .  1     ]         [ . ]     x = [ . 2 . -8 ]^T
///         [ .  4  7  1  ]         [ . ]
///
/// An unknown j leads to all i with l_ij stored: column j of the triangle.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/factors/triangle.hpp>

namespace tcsolve {

/// Finds reaches in the strict triangle whose pattern it was made of, in host memory. 4 bytes an
/// entry and 24 a row.
class TriangleReach {
 public:
  /// Cost: two passes over the pattern.
  template <class S>
  explicit TriangleReach(TriangleView<S> const& triangle);
  Offset entries() const { return starts_.back(); }

  /// The rows that `rows` reach, themselves among them, each after all those it needs: the
  /// depth-first order of Gilbert and Peierls, reversed. Returns nothing where more than `most`
  /// entries would be visited, and the reach is then not known. `rows` are distinct and within the
  /// triangle. Valid until the next call. Cost: the entries of the columns reached.
  struct Found {
    bool known = false;
    std::span<Index const> rows;
    Offset visited = 0;  ///< entries
  };
  Found of(std::span<Index const> rows, Offset most);

 private:
  std::vector<Offset> starts_;  // (rows + 1) of columns
  std::vector<Index> rows_of_;  // (entries) of each column
  std::vector<Index> seen_;     // (rows) the last search that met the row
  Index search_ = 0;
  std::vector<Index> order_;  // filled from its end
  struct Open {
    Index column;
    Offset next;
  };
  std::vector<Open> path_;
};

}  // namespace tcsolve
