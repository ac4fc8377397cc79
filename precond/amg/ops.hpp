// SPDX-License-Identifier: Apache-2.0
/// The fused operation of a smoothing step.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// d = keep d + gain W r,  x += d (x = d with `first`): a step of the Chebyshev iteration (Saad
/// 2003, Algorithm 12.1) in one pass, of damped Jacobi with keep = 0. keep = 0 does not read d.
struct SmoothingStep {
  static constexpr char const* name = "smoothing_step";
  std::int64_t n;
  double keep, gain;
  double const* w;  // (rows)
  Elements<double const> r;
  Elements<double> d, x;
  bool first;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    double const own = w[x.cols == 1 ? e : row_of_element(e, x.cols)];
    double v = gain * (own * r[e]);
    if (keep != 0) v += keep * d[e];
    d[e] = v;
    x[e] = first ? v : x[e] + v;
  }
};

using AmgOps = OpList<SmoothingStep>;

}  // namespace tcsolve
