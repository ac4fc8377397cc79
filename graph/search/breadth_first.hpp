// SPDX-License-Identifier: Apache-2.0
/// A breadth-first search of the graph of a square matrix (Ji et al. 2022, TileSpMSpV, section
/// 2.2: each level is a product of the matrix and a sparse vector, or-and; here the frontier is a
/// queue).
///
///     A = [ . 1 . 1 ]    from row 0      level   0 1 2 1     parent  -1 0 1 0
///         [ . . 1 . ]                    vertices  0 | 1 3 | 2
///         [ . . . . ]
///         [ . . 1 . ]                    2 has two parents on level 1: 1 and 3; the least is given
///
/// Edges lead from i to j where a_ij is stored, whatever its value; backwards from j to i.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

enum class Along {
  rows,     ///< i -> j where a_ij is stored
  columns,  ///< j -> i where a_ij is stored: the graph of A^T
  both      ///< either way: the graph of A + A^T
};

struct SearchRequest {
  std::vector<Index>
      sources;  ///< any number of at least one; in any order; repeated ones count once
  Along along = Along::rows;
  Index depth = -1;                     ///< edges from the nearest source at most; -1: no limit
  std::vector<std::uint8_t> may_enter;  ///< (rows) 0: neither entered nor passed; empty: all may be
  std::vector<Index> until;             ///< the search ends with the level that reaches one of them
};

struct BreadthFirst {
  std::vector<Index> level;  ///< (rows) edges from the nearest source; -1: not reached
  std::vector<Index>
      parent;  ///< (rows) least neighbour on the level before; -1: a source, or not reached
  std::vector<Index> vertices;  ///< those reached, by (level, number)
  std::vector<Index> starts{
      0};              ///< (levels + 1) level l is vertices[starts[l]] .. [starts[l + 1] - 1]
  bool found = false;  ///< one of `until` was reached

  Index levels() const { return static_cast<Index>(starts.size() - 1); }
};

/// Throws ShapeError for a request that does not fit a matrix of these extents.
void require_searchable(Index rows, Index cols, SearchRequest const& request);

/// A source that may not be entered is reached, at level 0, and left by no edge.
///
///   throws  ShapeError where A is not square, there is no source, a source or a vertex of `until`
///           is outside [0, rows), or `may_enter` has another length; Cancelled
///   cost    entries visited and O(rows), a sort of each level; along columns or both a transpose
///           of the pattern before it
BreadthFirst breadth_first(Pattern const& a, SearchRequest const& request, CancelFlag cancel = {});

/// Connected components of a graph, numbered in the order of their least vertices.
struct Components {
  std::vector<Index> of;     ///< (vertices)
  std::vector<Index> sizes;  ///< (components) vertices
  Index count() const { return static_cast<Index>(sizes.size()); }
};
/// Cost: O(vertices + edges).
Components connected_components(Graph const& graph, CancelFlag cancel = {});

}  // namespace tcsolve
