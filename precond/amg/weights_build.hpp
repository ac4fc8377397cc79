// SPDX-License-Identifier: Apache-2.0
/// Weights, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/amg/weights.hpp>

namespace tcsolve {

struct SmootherWeight {
  RowWeight kind;
  double* w;
  WeighedRows* all;
  TCSOLVE_HD void operator()(CsrView<double> const& a, std::int64_t i) const {
    double diagonal = 0, sum = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      sum += magnitude(a.values[k]);
      if (a.columns[k] == i) diagonal = a.values[k];
    }
    double inverse = kind == RowWeight::l1 ? sum : diagonal;
    if (kind == RowWeight::spai0) {  // sum_j a_ij^2 / a_ii, of ratios, whose squares are in range
      double squares = 0;
      for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
        double const ratio = a.values[k] / diagonal;
        squares += ratio * ratio;
      }
      inverse = diagonal * squares;
    }
    w[i] = sum == 0 ? 0.0 : 1 / inverse;
    bool const fits = diagonal > 0 && w[i] > 0 && is_finite(w[i]) && is_finite(sum);
    if (sum != 0 && !fits) lower_to(&all->bad, static_cast<std::int32_t>(i));
    raise_to(&all->norm, w[i] * sum);
  }
};

struct NoRows {
  WeighedRows* all;
  TCSOLVE_HD void operator()(std::int64_t) const { *all = {0, WeighedRows::none}; }
};

template <class On>
WeighedRows smoother_weights(On& on, CsrView<double> const& a, RowWeight kind, double* w) {
  auto* const all = on.template take<WeighedRows>(1);
  on.each(1, NoRows{all});
  on.each_row(a.rows, a, SmootherWeight{kind, w, all});
  WeighedRows found{};
  on.read(all, &found, 1);
  return found;
}

}  // namespace tcsolve
