// SPDX-License-Identifier: Apache-2.0
/// An order that brings rows with the same columns together, so that eight neighbouring rows have
/// few different ones: data-affinity reordering (Acc-SpMM: Zhao et al. 2025, section 3.2).
///
///     communities   every vertex, those of few neighbours first, joins the neighbouring community
///                   with which modularity gains the most, if it gains at all (Rabbit Order: Arai
///                   et al. 2016); who joined whom is a forest, the dendrogram
///     order         a window takes eight rows, one after the other that which has the most columns
///                   in common with it, or with the window before; the next of a walk down the
///                   forest where none has any
///
///     columns 0 1 2 3 4 5                          0 3 1 4 2 5
///     row 0   * . . * . .     rows 0, 3 | 1, 4     * * . . . .
///     row 1   . * . . * .     have the same        * * . . . .
///     row 2   . . * . . *     columns              . . * * . .
///     row 3   * . . * . .                          . . * * . .
///
/// Where the paper compares a row with the one before, it is compared with all of the window so
/// far: the columns that they share are those that the window does not need again.
#pragma once

#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// The same on every run. Vertices of more than 256 neighbours, which say little of those that have
/// them, count as a column but do not look for rows. Cost: about O(edges) for the communities, and
/// for each window the neighbours of its columns; serial; 20 bytes an edge.
Permutation affinity_order(Graph const& graph);
/// The order of a square host matrix, by the graph of A + A^T. Throws ShapeError unless A is
/// square.
Permutation affinity_order(Pattern const& a);

/// Blocks of 8 x 8 when the columns of every eight rows are moved together: the entries over these
/// are what an order gains. Cost: one pass over the pattern and 4 bytes a column; serial.
Offset condensed_blocks(Pattern const& a);

}  // namespace tcsolve
