// SPDX-License-Identifier: Apache-2.0
/// How many entries factors will have, told without making them.
///
///     level k    l_ij and u_ij are kept where a path of at most k + 1 steps leads from i to j by
///                rows that come before both (Hysom and Pothen 2001): counted row by row
///     complete   the row subtrees of the elimination tree (Liu 1990): counted, not stored
///     by size    depends on the values: the whole matrix, or a sample of it, is factorised
#pragma once

#include <functional>
#include <optional>

#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/incomplete.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>

namespace tcsolve {

/// Of strict triangles.
struct FillCount {
  double lower = 0, upper = 0;
  /// Rows of each triangle with those that pad its levels (factors/triangle.hpp).
  double lower_places = 0, upper_places = 0;
  bool by_blocks = false;  ///< the places are those of the block form (factors/block_factors.hpp)
  bool exact = true;       ///< counted; false: inferred from a sample
  double inside = 1;       ///< of A's entries, those within parts of FactorRecipe::part rows
};

/// Of factors that there are. Cost: O(entries).
FillCount count_of(TriangularFactors const& factors);

/// Of fill_pattern(B, level), with the places of the block form where B is made of whole blocks,
/// `nodes`. The places are those of B's own triangles, which level 0 has. Cost: for each row of B a
/// search of level + 1 steps, on all threads; B^T besides.
FillCount count_by_level(Context&, Csr<double> const& B, int level,
                         std::vector<Index> const& nodes = {});

/// Of complete factors, without pivoting, of P (B + B^T) P^T; nothing where they have more than
/// `limit` entries with the diagonal (0: no limit). Cost: O(entries of the factors); P B P^T and
/// its transpose, 16 bytes a row.
std::optional<FillCount> count_complete(Csr<double> const& B, Permutation const& P, Offset limit,
                                        CancelFlag cancel = {});

/// The same of a B whose pattern is not symmetric, of P B P^T: `bound`, which count_complete()
/// says, with the entries inferred from 1024 rows and columns. Cost: for each of these a search.
FillCount count_unsymmetric(Context&, Csr<double> const& B, Permutation const& P,
                            FillCount const& bound);

/// Of factors by size, which `factorise` makes of a matrix: of B, where it has at most `sample`
/// rows, else of eight connected parts of B of so many rows together. In these the rows count that
/// have all of their neighbours in their part.
FillCount count_by_size(Csr<double> const& B, Index sample,
                        std::function<TriangularFactors(Csr<double> const&)> const& factorise);

}  // namespace tcsolve
