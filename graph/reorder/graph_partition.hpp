// SPDX-License-Identifier: Apache-2.0
/// A graph cut into parts of about equal size with few edges between them. By METIS, an optional
/// package: graph/reorder/metis/ calls it, graph/reorder/metis_absent.cpp stands in where it is
/// not there.
#pragma once

#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// True when this build contains METIS.
bool metis_built();
/// Throws NotBuilt, with the remedy, when it does not.
void require_metis();
/// True when METIS can hold the graph: its positions are of 32 bits.
bool metis_holds(Graph const& graph);

/// The part of each vertex, in [0, parts): multilevel k-way partitioning (Karypis and Kumar 1998,
/// "A fast and high quality multilevel scheme for partitioning irregular graphs"). A part may be
/// empty when there are about as many parts as vertices. METIS draws from the process's rand(),
/// seeded here: the same parts on every run unless another thread calls rand() meanwhile.
///
///   parts  at least 1
///   throws NotBuilt without METIS, SizeError beyond 2^31 - 1 neighbours, MemoryError, Cancelled at
///          once: METIS is left behind (core/left_behind.hpp), and the next call waits for its end
///   cost   about O(edges), 8 bytes an edge for a copy and several times that within METIS; serial
std::vector<Index> partition(Graph const& graph, Index parts, CancelFlag cancel = {});

/// The old numbers of the vertices in an order by nested dissection: two parts, then what separates
/// them, each part in the same way (George 1973; Karypis and Kumar 1998, METIS_NodeND). A
/// factorisation fills in little and its triangular solves have few steps. Throws as partition().
std::vector<Index> nested_dissection(Graph const& graph, CancelFlag cancel = {});

}  // namespace tcsolve
