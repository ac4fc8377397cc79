// SPDX-License-Identifier: Apache-2.0
/// The rows of triangular factors that a right-hand side with few entries reaches, found where the
/// factors lie and without a wait for the host: so also inside a captured graph.
///
///     look      the rows where x is not zero, if these are few                  a pass over x
///     search    breadth-first along the columns of L, then of U, level by level: a thread block
///     list      the groups of rows_of_warp places of the schedule that have a row reached
///
///     schedule of L   . a . . | . . . . | b . . c | . . . .       levels 0, 0, 1, 2
///     groups                0         1         2         3
///     listed          0, 2: a solve takes these, in this order, and of their rows a, b and c
///
/// A group belongs to one level, so that what is listed is a schedule again: rows wait for rows
/// before them, and each is summed by the same lanes as in a full solve, to the same bits.
///
/// Column j of L leads to the rows that need y_j (factors/apply/reach.hpp). Factors whose pattern
/// is symmetric have it as row j of U, and columns of U as rows of L: a search needs no entries of
/// its own. Of others the columns are made, 4 bytes an entry. A search pays where it leads to fewer
/// levels; each triangle keeps account of that, in levels of its schedule, and is searched no more
/// once searches have cost more than they have saved.
#pragma once

#include <memory>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/triangle.hpp>

namespace tcsolve {

/// Whether factors on a device are searched: a look takes 2 to 9 % of a solve with a dense x.
enum class ReachOnDevice { searched, never };

/// A triangle's pattern and schedule, in one space.
struct TriangleGraph {
  Index rows = 0;
  OffsetsView begin, end;  ///< (rows): of each row's entries, columns ascending
  Index const* columns = nullptr;
  Index const* row_of = nullptr;  ///< (places); -1 for padding
  Index const* starts = nullptr;  ///< (levels + 1) first place of each level
  Index places = 0, levels = 0;
  Offset entries = 0;
};

/// What a search of one triangle needs and finds.
struct ReachView {
  Index rows = 0, groups = 0, levels = 0;
  Index most = 0;                             ///< entries that it goes through
  OffsetsView begin, end;                     ///< (rows)
  Index const* needed_by = nullptr;           ///< [begin_j, end_j): the rows that need unknown j
  Index* place = nullptr;                     ///< (rows) in the schedule
  Index* level = nullptr;                     ///< (groups)
  std::uint64_t* seen = nullptr;              ///< a bit a row: reached by the last search
  std::uint64_t* marked = nullptr;            ///< a bit a group
  Index* queue = nullptr;                     ///< (rows) the rows reached, in any order of a level
  Index* list = nullptr;                      ///< (groups) those that have one, ascending
  Index *count = nullptr, *before = nullptr;  ///< (words of `marked`)
  ReachState* state = nullptr;
};

/// The entries of x.
struct SeedsView {
  Index rows = 0, few = 0;  ///< at most `few` are few
  Index* row_of = nullptr;  ///< (rows) of L, by the row of x
  Index* seeds = nullptr;   ///< (few) rows of x
  Index* count = nullptr;   ///< more than `few`: too many, and not all are told. 0 between searches
};

class ReachSearch {
 public:
  static constexpr Index few_of = 32;       ///< one entry in so many rows is few
  static constexpr Offset small_part = 16;  ///< one in so many entries of a triangle
  /// A thread block goes through so many entries in a quarter of the time of a level.
  static constexpr Offset entries_a_level = 128;
  /// Levels of both triangles from which on x is looked at: that takes two small kernels, 5 us,
  /// where a level takes 0.8 us.
  static constexpr Index worth_levels = 120;

  /// `from`: (rows) the row of x for each of L. Null where solves have fewer levels than `worth`,
  /// or there are more than 2^31 - 1 entries. Cost: a binary search for each entry, and a wait; 24
  /// bytes a row are kept.
  static std::unique_ptr<ReachSearch> of(Context&, TriangleGraph const& lower,
                                         TriangleGraph const& upper, Index const* from,
                                         Index worth = worth_levels);

  /// Finds the reach of x, (rows) `stride` apart, for the solves that follow: a pass over x, and
  /// the search by one thread block where x has few entries. Does not wait.
  template <class On>
  void find(On&, Arena&, double const* x, std::int64_t stride) const;
  /// For the solve of L, and of U after it.
  TriangleMask lower() const;
  TriangleMask upper() const;

  /// Whether the last solves visited the reaches alone, and how many rows of L and of U these have.
  /// Waits.
  struct Found {
    bool lower = false, upper = false;
    Index rows_of_lower = 0, rows_of_upper = 0;
  };
  Found found(Context&) const;

 private:
  ReachSearch(Context&, TriangleGraph const& lower, TriangleGraph const& upper);
  struct Side {
    Array<Index> places, groups, words;
    Array<Index> column_starts, needed_by;  // where the pattern is not symmetric
    Array<std::uint64_t> bits;
    ReachView view;
    void make(Context&, TriangleGraph const& of, TriangleGraph const& other, ReachState* state);
  };
  Side lower_, upper_;
  Array<Index> seed_rows_, states_;
  SeedsView seeds_;
};

// Written once (factors/apply/reach_search_build.hpp).
namespace host {
/// Fills place and level of both, and row_of. Returns whether the pattern is symmetric.
bool prepare_reach(Host&, Arena&, TriangleGraph const& lower, TriangleGraph const& upper,
                   Index const* from, ReachView const&, ReachView const&, SeedsView const&);
/// The columns of a triangle: [starts_j, starts_{j+1}) of `rows`, in any order.
void columns_of(Host&, Arena&, TriangleGraph const&, Array<Index>& starts, Array<Index>& rows);
void find_reach(Host&, Arena&, ReachView const& lower, ReachView const& upper, SeedsView const&,
                double const* x, std::int64_t stride);
}  // namespace host
namespace cuda {
bool prepare_reach(Device&, Arena&, TriangleGraph const& lower, TriangleGraph const& upper,
                   Index const* from, ReachView const&, ReachView const&, SeedsView const&);
void columns_of(Device&, Arena&, TriangleGraph const&, Array<Index>& starts, Array<Index>& rows);
void find_reach(Device&, Arena&, ReachView const& lower, ReachView const& upper, SeedsView const&,
                double const* x, std::int64_t stride);
}  // namespace cuda

template <class On>
void ReachSearch::find(On& on, Arena& arena, double const* x, std::int64_t stride) const {
  find_reach(on, arena, lower_.view, upper_.view, seeds_, x, stride);
}

}  // namespace tcsolve
