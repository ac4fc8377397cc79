// SPDX-License-Identifier: Apache-2.0
/// What the pattern of a matrix says about the formats it could be stored in: counts that a pass or
/// two take, from which the bytes of each format follow without making it.
///
/// Drawn with tiles of 2 x 4 instead of 8 x 8:
///
///     cols   0 1 2 3 | 4 5 6 7 | 8 9 10 11
///     row 0  * *     |         |              3 tiles, where two rows read x from one line of a
///     row 1    * *   |     *   |   *          cache; of them 1 block, with 4 entries; the two
///                                             others have so few that bitBSR sets them aside
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/bsell.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

struct Features {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Offset short_rows[5] = {};               ///< rows of 0, 1, 2, 3 and 4 entries
  Offset long_rows = 0, long_entries = 0;  ///< rows of more than 256 entries
  Offset longest = 0;                      ///< entries of the longest row
  Offset medium_slots = 0;   ///< of rows of 5 to 256 entries, each filled up to a multiple of 4
  Offset medium_wide = 0;    ///< of these, in groups of 8 rows whose columns span 65536 or more
  Offset slices_stored = 0;  ///< slices of 32 rows, each as wide as its longest row
  Offset slices_wide = 0;    ///< of these, in slices whose columns span 65536 or more
  Offset tiles = 0;          ///< 8 x 8 tiles that hold an entry of a row of at most 256 entries
  Offset blocks = 0, block_entries = 0;  ///< tiles of more than two entries, and what they hold
  /// With an entry; entries of the longest row where even these are too many (dia_fits).
  Offset diagonals = 0;
  /// A = A^T, values and all; looked at only where diagonals are few (dia_fits).
  bool symmetric = false;
  /// Dense blocks of 2 x 2, 3 x 3, 4 x 4 and 6 x 6; counted only where a row has eight entries in
  /// the mean, none has more than 4096 (of which one thread would have to take six), else 0. Of
  /// a large matrix they are estimates (count_blocks).
  BsellCounts dense{};

  bool operator==(Features const&) const = default;
};

/// Of a canonical matrix in the Context's space; host and device give the same numbers. Cost: all
/// that formats/survey.hpp can look at, which is more than a decision mostly needs.
template <class S>
Features features(Context&, CsrView<S> const& a);

}  // namespace tcsolve
