// SPDX-License-Identifier: Apache-2.0
/// One vector as a block of its parts, and the sum of a block's columns (enlarged Krylov spaces:
/// Grigori, Moufawad and Nataf 2016). Part j of w is row n j / w to row n (j + 1) / w.
#pragma once

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// R = [r on part 0, r on part 1, ..], zeros elsewhere.                 reads n, writes n w values
struct SplitParts {
  static constexpr char const* name = "split_parts";
  std::int64_t n;  ///< w rows
  std::int64_t rows;
  Index w;
  double const* r;
  double* R;  ///< its rows w apart
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const i = e / w, j = e % w;
    bool const here = i >= rows * j / w && i < rows * (j + 1) / w;
    R[e] = here ? r[i] : 0.0;
  }
};

/// x = the sum of X's columns, in order.                                reads n w, writes n values
struct SumParts {
  static constexpr char const* name = "sum_parts";
  std::int64_t n;
  Index w;
  double const* X;  ///< its rows w apart
  double* x;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    double sum = 0;
    for (Index j = 0; j < w; ++j) sum += X[i * w + j];
    x[i] = sum;
  }
};

}  // namespace tcsolve
