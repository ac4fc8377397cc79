// SPDX-License-Identifier: Apache-2.0
/// A maximum-product matching: which entry of each row should stand on the diagonal.
///
///     A = [ .  2 ]      the product of the diagonal of A is 0, that of P A is 2 * 3 = 6:
///         [ 3  1 ]      row 1 is matched with column 0, row 0 with column 1
///
/// With the scaling that comes with it every matched entry has size 1 and no other is larger
/// (Duff and Koster 2001, "On algorithms for permuting large entries to the diagonal of a sparse
/// matrix", section 4; Olschowka and Neumaier 1996). Factorisations without pivoting then meet no
/// zero on the diagonal, and few small ones.
#pragma once

#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

struct Matching {
  std::vector<Index> row_of;          ///< (n): the row that is matched with each column
  std::vector<double> rows, columns;  ///< factors: |rows_i a_ij columns_j| <= 1, 1 if matched
  Index rank = 0;                     ///< matched columns; < n: structurally singular
  bool is_diagonal() const;           ///< every row is matched with its own column
};

/// The matching of a square host matrix that maximises prod |a_{row_of(j), j}| over the matchings
/// of most columns; zeros that are stored are no entries. Rows and columns that no matching reaches
/// are paired in ascending order, and their factors are those of their largest entry. Shortest
/// augmenting paths, one for each row that a greedy start leaves out. Throws ShapeError unless A is
/// square and on the host, MatrixError where a value is not finite. Cost: O(n entries log n) at
/// worst, a few passes for most matrices; serial; 40 bytes a row and 8 an entry.
Matching maximum_product_matching(CsrView<double> const& a, CancelFlag cancel = {});

}  // namespace tcsolve
