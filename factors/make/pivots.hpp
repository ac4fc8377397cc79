// SPDX-License-Identifier: Apache-2.0
/// What factorisations do about pivots that are too small, or of the wrong sign.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/core/error.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// A pivot of a definite matrix is above this times its diagonal entry.
constexpr double least_pivot = 1e-12;

/// sqrt(sum a_ij^2 / entries): the size of a typical entry of a row.
double row_size(CsrView<double> const& B, Index i);

/// 1 / pivot, the pivot at least `floor` in size. Counts what was replaced.
double inverse_pivot(double pivot, double floor, Index& replaced);

/// Diagonal entries. Throws MatrixError where one is not positive.
std::vector<double> positive_diagonal(Csr<double> const& B);

/// Calls factorise(shift), which says whether all pivots were positive, with shifts that grow from
/// 0 to 1e-3 and then by factors of 2 (Manteuffel 1980; Lin and More 1999). Of `earlier` values,
/// which took a shift, it tries a quarter first, then all of it, so that it falls with the need.
/// Returns the last one.
template <class F>
double with_shifts(double earlier, F const& factorise) {
  constexpr double least = 1e-3;
  double const first = earlier / 4 < least ? 0 : earlier / 4;
  for (double shift = first;;) {
    if (factorise(shift)) return shift;
    if (shift < earlier)
      shift = earlier;
    else
      shift = shift == 0 ? least : 2 * shift;
    if (shift > 1e6) throw MatrixError("no shift of the diagonal makes all pivots positive");
  }
}

}  // namespace tcsolve
