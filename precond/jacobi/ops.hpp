// SPDX-License-Identifier: Apache-2.0
/// The fused operation that makes Jacobi.
#pragma once

#include <cmath>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// d_i = 1 / a_ii (0 where a_ii is absent or zero, infinite or NaN where a_ii or its inverse is out
/// of the range of T), counts[0] = rows without a diagonal entry, counts[1] = rows where it is
/// negative, counts[2] = rows where it or its inverse is out of range.
template <class S, class T>
struct InverseDiagonal {
  static constexpr char const* name = "inverse_diagonal";
  static constexpr int sums = 3;
  std::int64_t n;
  CsrView<S> a;
  T* d;
  double* counts;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double a_ii = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      if (a.columns[k] == i) a_ii = double(a.values[k]);
    T inverse = T(a_ii == 0 ? 0.0 : 1 / a_ii);
    if (a_ii != 0 && inverse == T(0))
      inverse = T(HUGE_VAL);  // a_ii is infinite, or 1 / a_ii underflows
    sum[0] += a_ii == 0;
    sum[1] += a_ii < 0;
    sum[2] += !is_finite(double(inverse));
    d[i] = inverse;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int k = 0; k < 3; ++k) counts[k] = sum[k];
  }
};

/// to_i = d_i in FP32, lost = how many of them that leaves at 0 or infinite.
struct RoundDiagonal {
  static constexpr char const* name = "round_diagonal";
  static constexpr int sums = 1;
  std::int64_t n;
  double const* d;
  float* to;
  double* lost;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    auto const v = static_cast<float>(d[i]);
    sum[0] += v == 0 || !is_finite(double(v));
    to[i] = v;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *lost = sum[0]; }
};

template <class T>
using JacobiOps = OpList<InverseDiagonal<double, T>, InverseDiagonal<float, T>,
                         InverseDiagonal<half, T>, InverseDiagonal<bfloat16, T>>;

}  // namespace tcsolve
