// SPDX-License-Identifier: Apache-2.0
/// The patterns of level 0 and the level schedules of both triangles, made where the matrix lies:
///
///     B = [ 4 1 . ]    joint rows   [ 0 1 | 0 1 2 | 1 2 ]    begin     0 2 5 7
///         [ 2 4 1 ]    (factors/make/joint_factors.hpp)      diagonal  0 3 6
///         [ . 1 4 ]
///                      levels of L  row 0 | row 1 | row 2    of U  row 2 | row 1 | row 0
///
/// A joint row is the row of B, with a place for the diagonal where B has none: a search for the
/// diagonal, a scan of lengths, a copy of columns. A level is found from the one before (Kahn
/// 1962): each of its rows takes itself off the count of what the rows that depend on it still wait
/// for; a row whose count comes to nothing belongs to the next level. Rows that depend on row j are
/// those of column j; where the pattern is not symmetric the transpose lists them.
///
///   host   the same templates (level_zero_build.hpp), by Kokkos
///   cuda   both schedules in one cooperative kernel, a barrier a level (kernels/steps.hpp)
#pragma once

#include <optional>

#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

/// The pattern of both factors at level 0, in the Context's space.
struct LevelZero {
  Index rows = 0;
  Offset entries = 0;          ///< with those of the diagonal
  Array<std::int32_t> narrow;  ///< begin (rows + 1), diagonal (rows), diagonal + 1 (rows)
  Array<std::int64_t> wide;    ///< the same where the entries need it
  Array<Index> columns;        ///< (entries)
  LevelSchedule lower_levels, upper_levels;
  Offset lower = 0, upper = 0;           ///< entries of the strict triangles
  Offset subtractions = 0;               ///< sum over l_ij of the length of row j of U
  Index longest_row = 0, short_row = 0;  ///< see JointArrays
  Offset of_long_rows = 0;               ///< entries of rows longer than short_row
};

/// Of a square matrix in the Context's space. Nothing where a triangle has more than `most_levels`
/// levels, each of which ends with a barrier: then a host's one pass is quicker. Throws
/// MemoryError. Cost: the columns some four times; 60 bytes a row of scratch, and 12 an entry where
/// the pattern is not symmetric.
std::optional<LevelZero> level_zero(Context&, PatternView const& a, Index most_levels);

/// Whether a diagonal entry is small beside its row, or not there, so that rows should be matched
/// (Arrangement). `a` lies in the Context's space.
bool has_small_diagonal(Context&, CsrView<double> const& a);

namespace host {
std::optional<LevelZero> level_zero(Host&, Arena&, PatternView const& a, Index most_levels);
bool has_small_diagonal(Host&, Arena&, CsrView<double> const& a);
}  // namespace host
namespace cuda {
std::optional<LevelZero> level_zero(Device&, Arena&, PatternView const& a, Index most_levels);
bool has_small_diagonal(Device&, Arena&, CsrView<double> const& a);
}  // namespace cuda

}  // namespace tcsolve
