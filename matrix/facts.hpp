// SPDX-License-Identifier: Apache-2.0
/// What can be seen of a matrix in two passes, where it lies (matrix/facts_build.hpp).
#pragma once

#include <string>

#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

struct MatrixFacts {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  bool symmetric = false;                 ///< is_symmetric() (matrix/symmetry.hpp)
  Index zero_diagonal = 0;                ///< rows whose diagonal entry is absent or zero
  Index negative_diagonal = 0;            ///< rows where it is negative
  Index dominant_rows = 0;                ///< |a_ii| >= sum_{j != i} |a_ij|
  double least_row = 0, largest_row = 0;  ///< sum_j |a_ij|, of rows that are not zero
  /// Rows differ so much in size that a residual that is small in norm may leave unknowns unsolved.
  bool uneven_rows() const {
    constexpr double far = 1e6;
    return least_row > 0 && largest_row > far * least_row;
  }
  bool square() const { return rows == cols; }
  bool positive_diagonal() const { return zero_diagonal == 0 && negative_diagonal == 0; }
  /// "100 x 80, 460 entries, not square".
  std::string text() const;
};

/// Of a canonical matrix on the host, or in the Context's space; the same on both. Cost: one pass;
/// of a square matrix is_symmetric() too.
MatrixFacts matrix_facts(CsrView<double> const& a);
MatrixFacts matrix_facts(Context&, CsrView<double> const& a);
/// What single rows tell, `symmetric` left open. Cost: one pass.
MatrixFacts row_facts(CsrView<double> const& a);
MatrixFacts row_facts(Context&, CsrView<double> const& a);

enum class Pairs { leave, compare };  ///< a_ij and a_ji
namespace host {
MatrixFacts matrix_facts(Host&, Arena&, CsrView<double> const& a, Pairs);
}  // namespace host
namespace cuda {
MatrixFacts matrix_facts(Device&, Arena&, CsrView<double> const& a, Pairs);
}  // namespace cuda

}  // namespace tcsolve
