// SPDX-License-Identifier: Apache-2.0
/// A unit triangular system in the order in which its unknowns can be had: level by level, the
/// unknowns of a level depending on earlier levels alone (Anderson and Saad 1989).
///
///     L = [ 1           ]     level 0: rows 0, 2
///         [ 5  1        ]     level 1: rows 1, 3
///         [ .  .  1     ]     order:   0 2 - 1 3
///         [ .  .  7  1  ]
///
/// - is padding: the rows of a warp belong to one level.
///
/// The host takes level after level, the rows of a wide one by several threads; a device starts all
/// rows in this order, each waiting for those it needs (Liu, Li, Hogg, Duff and Vinter 2016).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// Rows of a level are padded to a multiple of this, so that the rows of a warp, four lanes or more
/// each, need nothing of each other.
constexpr Index rows_of_warp = 8;

/// The order of a triangle's rows.
struct LevelOrder {
  std::vector<Index> row_of;  ///< of each place; -1 for padding
  std::vector<Index> starts;  ///< first place of each level, and the number of places
  Index levels() const { return static_cast<Index>(starts.size()) - 1; }
};
LevelOrder level_order(Csr<double> const& triangle, bool lower);

/// The same in a Context's space.
struct LevelSchedule {
  Array<Index> row_of, starts;
  Index levels = 0, places = 0;
};
LevelSchedule to_space(Context&, LevelOrder const&);
LevelOrder to_host(Context&, LevelSchedule const&);

/// The strict part of a triangle, its rows anywhere in `columns` and `values`.
template <class S>
struct TriangleView {
  Index rows = 0;
  OffsetsView begin, end;  // (rows): of each row's entries
  Index const* columns = nullptr;
  S const* values = nullptr;
  Index const* row_of = nullptr;  // (places), the order; -1 for padding
  Index places = 0;
  Index mean_row = 0;
};

/// What is solved, and where the solution goes beside y:
///
///     y_i = scale_i source[from_i stride] - sum_k values_k y[columns_k]
///     out[to_i] = alpha factor_i y_i + beta out[to_i]
///
/// Several right-hand sides are solved together: levels and entries are gone through once. Their
/// unknowns of a row are neighbours, `width` apart from those of the next row.
struct TriangleSolve {
  static constexpr Index most_columns = 16;
  Index columns = 1;  ///< at most most_columns, and at most ...
  Index width = 1;    ///< ... the next power of two
  double const* source = nullptr;
  std::int64_t stride = 1, source_column = 0;  ///< from one row, and one column, to the next
  Index const* from = nullptr;                 ///< (rows); null: from_i = i
  double const* scale = nullptr;
  Index const* to = nullptr;  ///< (rows); null: y alone is made
  double const* factor = nullptr;
  double alpha = 1, beta = 0;
  double* out = nullptr;
  std::int64_t out_stride = 1, out_column = 0;
  LoopState* loop = nullptr;  ///< around it, or null: in a stopped one nothing happens
};

/// What a search has found of a triangle (factors/apply/reach_search.hpp): `known` is 0 where it
/// was given up, or x has many entries.
struct ReachState {
  Index rows = 0, groups = 0;     ///< rows reached; groups of the schedule that have one
  Index visited = 0, levels = 0;  ///< entries that lead from these rows; levels of the groups
  Index known = 0;
  Index saved = 0, wasted = 0;  ///< by searches so far, in levels
  Index unused = 0;
};

/// The rows of a triangle that a solve visits: those of a reach where that is known, else all.
struct TriangleMask {
  ReachState const* state = nullptr;    ///< null: all rows
  Index const* groups = nullptr;        ///< (state->groups) of rows_of_warp places, ascending
  std::uint64_t const* seen = nullptr;  ///< a bit a row
  /// The same of the solve that made the source: its other rows are zero, and were not written.
  ReachState const* source_state = nullptr;
  std::uint64_t const* source_seen = nullptr;
};

/// What the device's kernels of a pair of solves share: at first all unknowns are `waiting` and the
/// tickets are 0 (prepare_scratch()), and each solve leaves what the other needs so.
struct TriangleScratch {
  double* y = nullptr;      ///< (rows) of this solve
  double* other = nullptr;  ///< that the other solve writes
  Index other_rows = 0;
  bool consume = false;        ///< `source` is `other` and is reset as it is read
  unsigned* ticket = nullptr;  ///< [0] of this solve, [1] of the other
  unsigned* other_ticket = nullptr;
};

namespace host {
/// By levels; y (rows, width) is written.
template <class S>
void solve_triangle(Host&, TriangleView<S> const&, LevelOrder const&, TriangleSolve const&,
                    double* y);
/// One right-hand side, the given rows alone, each after those it needs. All other unknowns of y
/// are zero, and out is written for these rows alone: the same bits as by levels.
template <class S>
void solve_rows(Host&, TriangleView<S> const&, std::span<Index const> rows, TriangleSolve const&,
                double* y);
/// The same by the groups of a mask whose reach is known, as a device goes through them. Beside
/// these rows out = beta out is made of the others.
template <class S>
void solve_groups(Host&, TriangleView<S> const&, TriangleMask const&, TriangleSolve const&,
                  double* y);
}  // namespace host

namespace cuda {
/// All of y becomes `waiting` (factors/waiting.cuh).
void prepare_scratch(Device&, double* y, std::int64_t rows);
/// Both tickets become 0.
void reset_tickets(Device&, unsigned* tickets);
/// One right-hand side. With a mask y stays `waiting` in the rows that are not visited, and their
/// out becomes beta out.
template <class S>
void solve_triangle(Device&, TriangleView<S> const&, TriangleSolve const&, TriangleScratch const&,
                    TriangleMask const& = {});
/// Any number. All of y (rows, width) is `waiting` before, and *ticket is 0.
template <class S>
void solve_triangles(Device&, TriangleView<S> const&, TriangleSolve const&, double* y,
                     unsigned* ticket);
}  // namespace cuda

}  // namespace tcsolve
