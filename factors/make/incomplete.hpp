// SPDX-License-Identifier: Apache-2.0
/// Incomplete factorisations B ~ L D U: L and U unit triangular, D diagonal.
///
///     B = [ 4 1 . ]      L = [  1        ]   D = [ 4          ]   U = [ 1 1/4   .   ]
///         [ 2 4 1 ]          [ 1/2  1    ]       [   3.5      ]       [    1  1/3.5 ]
///         [ . 1 4 ]          [  .  2/7 1 ]       [        3.7 ]       [         1   ]
///
/// The diagonals of L and U are not stored, and of D its inverse is. A symmetric factorisation has
/// U = L^T. Serial, on the host.
///
///     ilu_k.cpp              fill_pattern(), factorise_on_pattern()
///     ic_k.cpp               cholesky_on_pattern()
///     ilut.cpp               threshold_lu()
///     ict.cpp                threshold_cholesky()
///     complete_pattern.cpp   complete_pattern()
///     incomplete.cpp         transposed()
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

struct TriangularFactors {
  Csr<double> lower;  ///< strictly lower, canonical
  Csr<double> upper;  ///< strictly upper, canonical
  std::vector<double> inverse_pivots;
  Csr<double> pivot_blocks;  ///< D^-1 where D is block diagonal (factors/make/block_factors.hpp)
  Index replaced = 0;        ///< pivots that were too small, or of the wrong sign
  double shift = 0;          ///< B + shift |diag B| is what was factorised
  bool complete = false;     ///< no fill falls outside the patterns

  Offset entries() const { return lower.entries() + upper.entries() + lower.rows; }
};

/// (L D U)^T, on the host. Cost: O(entries).
std::shared_ptr<TriangularFactors const> transposed(TriangularFactors const& factors);

/// What an incomplete factorisation keeps.
struct Dropping {
  double tolerance = 0;  ///< drops what is smaller than this times the row's norm (2-norm / sqrt
                         ///< of its entries)
  Index most = 0;        ///< entries kept of a row in L, and in U, the largest; 0: all
};

/// The patterns of L and U where B has entries, and fill of level k or less (Saad 2003, section
/// 10.3.3); values are zero. Throws MemoryError before more than `limit` entries are kept (0: no
/// limit). Cost: O(sum of the squares of the rows' lengths).
TriangularFactors fill_pattern(Csr<double> const& B, int level, Offset limit = 0,
                               CancelFlag cancel = {});

/// L D U on given patterns, by rows (Saad 2003, algorithm 10.4); what would fall outside them is
/// dropped. A pivot smaller than `floor` times the row's norm takes that size and its own sign.
/// Cost: O(sum over the entries l_ij of the length of row j of U).
void factorise_on_pattern(Csr<double> const& B, double floor, TriangularFactors& factors,
                          CancelFlag cancel = {});

/// The same for a symmetric B, of which the upper triangle is read; U alone is computed, L = U^T.
/// Where a pivot is not positive, B + shift diag B is factorised instead, the shift growing from
/// 1e-3 by factors of 2 (Manteuffel 1980; Lin and More 1999). It begins with factors.shift, 0 in a
/// new pattern: what earlier values needed, new ones will need too. Throws MatrixError where B has
/// a diagonal entry that is not positive.
void cholesky_on_pattern(Csr<double> const& B, TriangularFactors& factors, CancelFlag cancel = {});

/// ILUT: threshold and largest entries of each row (Saad 1994; Saad 2003, algorithm 10.6), with
/// pivots as above. Throws MemoryError before more than `limit` entries are kept (0: no limit).
TriangularFactors threshold_lu(Csr<double> const& B, Dropping const& dropping, double floor,
                               Offset limit = 0, CancelFlag cancel = {});

/// The same for a symmetric B, by rows of U (Lin and More 1999), shifted as above.
TriangularFactors threshold_cholesky(Csr<double> const& B, Dropping const& dropping,
                                     Offset limit = 0, CancelFlag cancel = {});

/// The patterns of complete factors, without pivoting, of B + B^T (Liu 1990: row subtrees of the
/// elimination tree); nothing where they have more than `limit` entries. Cost: O(entries).
std::optional<TriangularFactors> complete_pattern(Csr<double> const& B, Offset limit,
                                                  CancelFlag cancel = {});

}  // namespace tcsolve
