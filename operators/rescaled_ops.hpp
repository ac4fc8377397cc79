// SPDX-License-Identifier: Apache-2.0
/// The fused operation of operators that are scaled by powers of two.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/matrix/powers.hpp>

namespace tcsolve {

/// y = alpha 2^(sign e_i) x_i + beta y_i, x and y blocks of vectors.
template <class T>
struct TimesPowers {
  static constexpr char const* name = "times_powers";
  std::int64_t n;
  double alpha;
  std::int32_t const* e;  ///< (rows)
  int sign;
  Elements<T const> x;
  double beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const {
    std::int32_t const here = sign * e[y.cols == 1 ? i : row_of_element(i, y.cols)];
    double const v = alpha * powers::times_power(double(x[i]), here);
    y[i] = T(beta == 0 ? v : v + beta * double(y[i]));
  }
};

template <class T>
using RescaledOps = OpList<TimesPowers<T>>;

}  // namespace tcsolve
