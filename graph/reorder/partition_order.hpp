// SPDX-License-Identifier: Apache-2.0
/// An order by parts of the graph, each small enough for its x to stay in a cache.
///
///     +----+----+      parts of about `part_rows` rows with few edges between them (METIS);
///     | 3  | 2  |      reverse Cuthill-McKee orders the parts, so that a part's neighbours are
///     +----+----+      near it in memory, and the rows within each part.
///     | 0  | 1  |
///     +----+----+      rows  0 .. | part 0 | part 1 | part 2 | part 3 |
///
/// Why so: of the variants measured on a renumbered 27-point grid (docs/reordering.md), these read
/// the fewest sectors of x and keep most column differences within 16 bits. Rows left in the order
/// given read three to eight times as many, and parts in the order of recursive bisection cost
/// twice the time. The idea of parts for locality: Yzelman and Bisseling 2009, "Cache-oblivious
/// sparse matrix-vector multiplication by using sparse matrix partitioning methods".
#pragma once

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// Rows whose FP64 x fills 32 KiB: a first-level cache of a processor, an eighth of that of a GPU's
/// multiprocessor, which has other blocks' rows to hold as well.
constexpr Index cached_rows = 4096;

///   graph      of adjacency(A)
///   part_rows  rows in a part, about; at least 1
///   throws     NotBuilt without METIS, SizeError, MemoryError (graph_partition.hpp)
///   cost       that of the partition, and O(edges log degree) with a copy of the graph; serial
Permutation partition_order(Graph const& graph, Index part_rows = cached_rows,
                            CancelFlag cancel = {});

/// The order of a square host matrix, by the graph of A + A^T. Throws ShapeError unless A is
/// square.
Permutation partition_order(Pattern const& a, Index part_rows = cached_rows,
                            CancelFlag cancel = {});

}  // namespace tcsolve
