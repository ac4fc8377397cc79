// SPDX-License-Identifier: Apache-2.0
/// What a run of a method begins with: the residual as its r, and nothing to correct x by.
#pragma once

#include <tcsolve/kernels/operation.hpp>

namespace tcsolve {

/// r = 2^e residual, the power as two factors (PowerOfTwo); d = 0. Reads and writes a vector of
/// the rows once, writes one of the columns.
template <class T>
struct BeginRun {
  static constexpr char const* name = "begin_run";
  std::int64_t n;  ///< the larger of rows and columns
  std::int64_t rows, cols;
  double factor, factor2;
  double const* residual;
  T *r, *d;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    if (i < rows) r[i] = T(residual[i] * factor * factor2);
    if (i < cols) d[i] = T(0);
  }
};

}  // namespace tcsolve
