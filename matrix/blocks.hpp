// SPDX-License-Identifier: Apache-2.0
/// Rows that belong together, as the unknowns of one node do. Blocks are given by their first rows
/// and, last, the number of rows: [0, b1, b2, ..., n].
#pragma once

#include <vector>

#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// First rows of blocks of `block` rows; the last block has the remaining ones.
std::vector<Index> uniform_blocks(Index rows, Index block);
/// Neighbouring rows whose columns are the same, at most max_block of them; empty where few rows
/// pair up that way.
std::vector<Index> natural_blocks(Pattern const& a, Index max_block);

}  // namespace tcsolve
