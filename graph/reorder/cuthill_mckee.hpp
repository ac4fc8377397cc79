// SPDX-License-Identifier: Apache-2.0
/// The reverse Cuthill-McKee order: neighbours get numbers near each other.
#pragma once

#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// Cuthill and McKee 1969, "Reducing the bandwidth of sparse symmetric matrices", reversed (George
/// 1971) in each connected component:
///
///     v_1 a pseudo-peripheral vertex (George and Liu 1979: from any vertex to a vertex of least
///         degree in the last level of its breadth-first levels, until there are no more levels)
///     for i = 1, 2, ...: number the neighbours of v_i that have no number yet, by ascending degree
///
/// Components keep the order in which `first` meets them, so isolated vertices stay where they are;
/// ties go by number. The same graph gives the same order on every machine.
///
///   graph  of adjacency(A)
///   first  a permutation of the vertices: where components are looked for
///   cost   O(edges log degree) time, serial; 16 bytes a vertex
Permutation reverse_cuthill_mckee(Graph const& graph, std::span<Index const> first,
                                  CancelFlag cancel = {});

/// The order of a square host matrix, by the graph of A + A^T. Throws ShapeError unless A is
/// square.
Permutation reverse_cuthill_mckee(Pattern const& a, CancelFlag cancel = {});

/// The same order of a matrix in the Context's space, made on the device where that is one: level
/// by level, all components at once (graph/reorder/cuthill_mckee_build.hpp). One vertex after
/// another, on the host, with the same result,
///
///   below 30,000 entries   which a host has done before a device has launched its kernels;
///   with a row or column of more than 1024 entries and a sixteenth of all    one warp walks a row;
///   with more than 256 + entries / 500 levels in all searches    each ends with a barrier of the
///                                                                grid: a long strip.
///
/// The last is found out by searching half as many levels in vain, at 2.4 us each: a sixth of what
/// the host then takes. Throws ShapeError unless A is square and there. Scratch: 8
/// bytes an entry, 32 where the pattern is not symmetric, and 180 a row; it is given back.
template <class S>
Permutation reverse_cuthill_mckee(Context&, CsrView<S> const& a);
/// Whether a device should search level by level, judged by these counts.
bool by_levels(Offset entries, Offset longest);

}  // namespace tcsolve
