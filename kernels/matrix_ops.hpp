// SPDX-License-Identifier: Apache-2.0
/// Fused operations that read a CSR matrix once.
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// sum_j |a_ij|, in order.
template <class S>
TCSOLVE_HD double row_size(CsrView<S> const& a, std::int64_t i) {
  Offset const begin = a.offsets[i];
  auto const count = static_cast<Index>(a.offsets[i + 1] - begin);
  S const* const values = a.values + begin;
  double sum = 0;
  for (Index k = 0; k < count; ++k) sum += magnitude(double(values[k]));
  return sum;
}

/// value = ||A||_inf, the largest row sum of |a_ij|.
template <class S>
struct MaxRowSum {
  static constexpr char const* name = "max_row_sum";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;
  CsrView<S> a;
  double* value;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    double const row = row_size(a, i);
    sum[0] = (row != row || row > sum[0]) ? row : sum[0];
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *value = sum[0]; }
};

}  // namespace tcsolve
