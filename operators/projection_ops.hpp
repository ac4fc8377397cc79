// SPDX-License-Identifier: Apache-2.0
/// The fused operation of a projection.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// y -= sigma z, sigma in the space that computes.
struct SubtractMultiple {
  static constexpr char const* name = "subtract_multiple";
  std::int64_t n;
  double const* sigma;
  double const* z;
  double* y;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double*) const { y[i] -= *sigma * z[i]; }
};

using ProjectionOps = OpList<SubtractMultiple>;

}  // namespace tcsolve
