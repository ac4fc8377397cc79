// SPDX-License-Identifier: Apache-2.0
/// How far a matrix is from symmetric, by its off-diagonal entries: what convection adds to
/// diffusion.
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve {

/// out = {sum |a_ij - a_ji|, sum |a_ij| + |a_ji|} over the entries i != j; A canonical.
struct SkewSizes {
  static constexpr char const* name = "skew_sizes";
  static constexpr int sums = 2;
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  double* out;  // (2)
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      Index const j = a.columns[k];
      if (j == i) continue;
      Offset const first = a.offsets[j], length = a.offsets[std::int64_t{j} + 1] - first;
      Offset const at =
          first + sparse::first_not_below(a.columns + first, length, static_cast<Index>(i));
      double const v = a.values[k],
                   w = at < first + length && a.columns[at] == i ? a.values[at] : 0.0;
      sum[0] += magnitude(v - w);
      sum[1] += magnitude(v) + magnitude(w);
    }
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { out[0] = sum[0], out[1] = sum[1]; }
};

using SkewOps = OpList<SkewSizes>;

}  // namespace tcsolve
