// SPDX-License-Identifier: Apache-2.0
/// A picture of where a matrix has its entries.
#pragma once

#include <tcsolve/matrix/csr.hpp>

#include <string>
#include <vector>

namespace tcsolve {

/// Entries counted in a grid of at most 160 x 160 cells, as high as it is wide for a square matrix.
struct SpyCounts {
  Index rows = 0, cols = 0;      ///< of the matrix
  int high = 0, wide = 0;        ///< of the grid
  std::vector<Offset> counts{};  ///< (high * wide), by rows
};

/// Cost: one pass over the entries.
SpyCounts spy_counts(Csr<double> const& a);

/// The grid as SVG; the more of a cell is filled, in comparison with the fullest one, the darker it
/// is.
std::string spy_svg(SpyCounts const& spy);

}  // namespace tcsolve
