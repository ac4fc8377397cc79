// SPDX-License-Identifier: Apache-2.0
/// The pattern of a matrix by blocks of r x c, in the Context's space: which of them hold an entry.
///
///     0  [ x x | . . | x . ]                blocks of 2 x 2: (0, 0) is full, (0, 2) is not
///     1  [ x x | . . | . . ]   block row 0: 0 2
///     2  [ . . | x x | . . ]
///     3  [ . . | x x | . . ]   block row 1: 1
///
/// Products of matrices whose unknowns come in nodes go by these patterns, r c times shorter than
/// those of the entries (sparse/product.hpp).
#pragma once

#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve::sparse {

/// Most rows or columns of a block.
constexpr Index most_block_rows = 16;

/// Where a has blocks of r x c: rows / r rows, cols / c columns. Of a, canonical, in the Context's
/// space. Throws ShapeError where r or c are beyond most_block_rows or do not divide its extents.
/// Cost: two passes over the columns, a wait.
OwnedPattern blocks_of(Context&, PatternView const& a, Index r, Index c);

/// The entries of full blocks of r x c; of row i of block row I those of all its blocks in turn.
/// Cost: a pass over the entries, a wait.
OwnedPattern entries_of(Context&, PatternView const& blocks, Index r, Index c);

}  // namespace tcsolve::sparse

namespace tcsolve {
namespace host {
sparse::OwnedPattern blocks_of(Host&, Arena&, PatternView const& a, Index r, Index c);
sparse::OwnedPattern entries_of(Host&, Arena&, PatternView const& blocks, Index r, Index c);
}  // namespace host
namespace cuda {
sparse::OwnedPattern blocks_of(Device&, Arena&, PatternView const& a, Index r, Index c);
sparse::OwnedPattern entries_of(Device&, Arena&, PatternView const& blocks, Index r, Index c);
}  // namespace cuda
}  // namespace tcsolve
