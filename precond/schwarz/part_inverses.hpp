// SPDX-License-Identifier: Apache-2.0
/// Parts of a matrix with their overlap where the matrix lies, and the sum of their inverses there:
///
///     rows      1 1 1 1 . .     row p: the rows of part p, ascending          (parts x n)
///               . . 1 1 1 1
///     takers    1 . | 1 . | 1 . | . 1 | ..     row i: the parts whose corrections row i takes,
///                                              ascending                      (n x parts)
///     M         takers rows     (n x n): where the sum has entries
///
/// A layer of overlap is a masked search, one step from all parts at once: the product of `rows`
/// with the links, the graph of A + A^T with its diagonal, in which a row that takes part in no
/// overlap has its diagonal alone. What is written here runs on either backend, to the same bits;
/// the inverses of blocks are those of the backend (precond/schwarz/dense_blocks.hpp).
#pragma once

#include <optional>
#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/graph/parts/grown_parts.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

struct PartsThere {
  sparse::OwnedPattern rows, takers;
  std::vector<Offset> starts;  ///< of `rows`, on the host
  Index count() const { return rows.rows; }
  Index size(Index p) const { return static_cast<Index>(starts[p + 1] - starts[p]); }
  double bytes() const {
    return bytes_of(rows) + bytes_of(takers) + double(starts.size() * sizeof(Offset));
  }
};

/// Each row of A in the part that `cut` names.
PartsThere parts_without_overlap(Context&, Parts const& cut);
/// `layers` >= 1 of neighbours added; a row with more than `most` of them takes part in no overlap.
/// `restricted`: a row takes the corrections of its own part alone. Nothing where a part would have
/// more than `most` rows, unless it has them of its own (OverlappingParts says which of them stay,
/// which depends on the order of a search), or where rows are so full that the product is large. A
/// lies in the Context's space.
std::optional<PartsThere> parts_with_overlap(Context&, CsrView<double> const& a, Parts const& cut,
                                             int layers, Index most, bool restricted);
/// Of lists of rows, the first own[p] of which are the part's own.
PartsThere parts_from_lists(Context&, Index n, std::vector<std::vector<Index>> const& lists,
                            std::vector<Index> const& own, bool restricted);

/// Multiplications of the symbolic product M, and about its entries.
double products_of(Context&, PartsThere const& parts);
/// Where M has entries: the product of two patterns, which the host makes by merging the lists of
/// parts. Cost: sparse::Product, or products_of() steps.
sparse::OwnedPattern pattern_of_sum(Context&, PartsThere const& parts);

/// sums (entries of m) = sum_p T_p^T A_p^-1 R_p on the pattern m, the parts in ascending order; all
/// in the Context's space. Throws MatrixError naming a part that is singular, Cancelled. Scratch:
/// the blocks of some parts.
void sum_inverses(Context&, CsrView<double> const& a, PartsThere const& parts, PatternView const& m,
                  double* sums);
/// The most values of blocks that are inverted at a time.
double most_at_once(Context const&, PartsThere const& parts);

// Written once (precond/schwarz/part_inverses_build.hpp).
struct PartBlocks {
  PatternView rows, takers;
  Index begin = 0, end = 0;        ///< parts
  Offset first_row = 0;            ///< rows of parts before `begin`
  Offset part_rows = 0;            ///< of these parts
  Offset const* starts = nullptr;  ///< (parts + 1) in on.space(): values of blocks before each
  Offset values = 0;               ///< of these parts' blocks
};
namespace host {
sparse::OwnedPattern overlap_links(Host&, Arena&, PatternView a, Index most, Offset& longest);
void gather_blocks(Host&, Arena&, CsrView<double> const& a, PartBlocks const&, double* values);
void add_inverses(Host&, Arena&, CancelFlag, PatternView const& m, PartBlocks const&,
                  double const* values, double* sums);
}  // namespace host
namespace cuda {
sparse::OwnedPattern overlap_links(Device&, Arena&, PatternView a, Index most, Offset& longest);
void gather_blocks(Device&, Arena&, CsrView<double> const& a, PartBlocks const&, double* values);
void add_inverses(Device&, Arena&, CancelFlag, PatternView const& m, PartBlocks const&,
                  double const* values, double* sums);
}  // namespace cuda

}  // namespace tcsolve
