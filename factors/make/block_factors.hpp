// SPDX-License-Identifier: Apache-2.0
/// L D U of a matrix made of whole blocks, the blocks taken as entries.
///
///     L D U = (L T^-1) (T D V) (V^-1 U)      T, V: the unit triangles of L and U within the blocks
///
/// L T^-1 and V^-1 U are unit triangular with the unit matrix in their diagonal blocks, so that the
/// unknowns of a block need nothing of each other: a triangular solve has as many levels as blocks
/// follow each other. An incomplete factorisation by blocks, which treats blocks as entries, is the
/// one by entries on a pattern of whole blocks: what falls away is the same.
#pragma once

#include <vector>

#include <tcsolve/factors/make/incomplete.hpp>

namespace tcsolve {

/// The block form of factors on a pattern of whole blocks, whose first rows are `nodes`
/// (matrix/blocks.hpp): pivot_blocks = (T D V)^-1, and inverse_pivots are 1. Cost: O(entries times
/// the size of a block).
TriangularFactors by_blocks(TriangularFactors const& factors, std::vector<Index> const& nodes);

}  // namespace tcsolve
