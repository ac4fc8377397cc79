// SPDX-License-Identifier: Apache-2.0
/// A graph cut into connected parts that are grown one after another, for those to whom the least
/// number of cut edges matters less than the time that METIS takes for it.
///
///     size 4    0 0 1 1     the next part begins at the vertex without a part that a breadth-first
///               0 0 1 1     search from a pseudo-peripheral vertex reaches first: beside the parts
///               2 2 3 3     before. It takes the neighbour with most edges into the part, among
///               2 2 3 3     those the one found first, until it has its rows.
///
/// Greedy growth of this kind is Farhat 1988, "A simple and efficient automatic FEM domain
/// decomposer", there by levels alone; the neighbour with most edges into the part is the choice of
/// greedy graph growing (Karypis and Kumar 1998, section 3.2), here of parts of a given size.
#pragma once

#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

struct Parts {
  std::vector<Index> of;  ///< (vertices) the part of each
  Index count = 0;        ///< none is empty
};

/// Parts of at most `size` vertices, each connected, numbered as they are grown. They grow to 7/8
/// of `size`; what is left between them, crumbs of less than a quarter of it, joins the part beside
/// it to which it has most edges, among those with room for it. A crumb stays one where none has.
/// The same graph gives the same parts on every machine.
///
///   graph  of adjacency(A)
///   throws ShapeError for a size below 1; Cancelled
///   cost   O(edges log size) time, serial; 45 bytes a vertex
Parts grown_parts(Graph const& graph, Index size, CancelFlag cancel = {});

}  // namespace tcsolve
