// SPDX-License-Identifier: Apache-2.0
/// Counts over a pattern from which the bytes of each format follow (formats/choose/survey.hpp),
/// where the matrix lies: one template over a backend, formats/choose/survey_build.hpp.
///
///   rows    row lengths, first and last columns         12 bytes a row, two sectors of columns
///   tiles   8 x 8 tiles: a merge of each eight rows     columns once
///   mirror  A = A^T, values and all                     the matrix once, and for each entry above
///                                                       the diagonal a search of a row
///
///   host   Kokkos
///   cuda   a lane a row; a lane eight rows, whose columns lie in shared memory
///   bits   integers: the same whatever the order
#pragma once

#include <tcsolve/graph/reorder/renumber.hpp>

namespace tcsolve {

/// Sums over rows, but for `longest`.
struct RowCounts {
  Offset short_rows[5] = {};               ///< of 0, 1, 2, 3 and 4 entries
  Offset long_rows = 0, long_entries = 0;  ///< of more than 256
  Offset medium_slots = 0;                 ///< of the others, filled up to a multiple of 4
  Offset medium_wide = 0;  ///< of these, in groups of 8 rows whose columns span 65536 or more
  Offset slices_stored = 0, slices_wide = 0;  ///< of slices of 32 rows, as wide as their longest
  Offset longest = 0;
};
/// Tiles with an entry, long rows left out; blocks are those of more than two entries.
struct TileCounts {
  Offset tiles = 0, blocks = 0, block_entries = 0;
};

namespace host {
RowCounts count_rows(Host&, Arena&, PatternView const& a);
TileCounts count_tiles(Host&, Arena&, PatternView const& a);
template <class S>
bool mirrored(Host&, Arena&, CsrView<S> const& a);
}  // namespace host

namespace cuda {
RowCounts count_rows(Device&, Arena&, PatternView const& a);
TileCounts count_tiles(Device&, Arena&, PatternView const& a);
template <class S>
bool mirrored(Device&, Arena&, CsrView<S> const& a);
}  // namespace cuda

}  // namespace tcsolve
