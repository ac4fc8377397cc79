// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/column_scaling/column_scaling.hpp>

#include <cmath>

namespace tcsolve {
namespace {

std::vector<Csr<double>> inverse_lengths(Context&, CsrView<double> const& a) {
  std::vector<double> length(a.cols, 0.0);
  for (Offset k = 0; k < a.entries; ++k)
    length[a.columns[k]] = std::hypot(length[a.columns[k]], a.values[k]);
  Csr<double> M;
  M.rows = M.cols = a.cols;
  M.offsets.reserve(length.size() + 1);
  M.columns.reserve(length.size());
  M.values.reserve(length.size());
  for (Index j = 0; j < a.cols; ++j) {
    double const inverse = length[j] > 0 ? 1 / length[j] : 1;
    M.columns.push_back(j);
    M.values.push_back(std::isfinite(inverse) ? inverse : 0x1p+1000);
    M.offsets.push_back(M.entries());
  }
  return {M};
}

}  // namespace

std::unique_ptr<Preconditioner> ColumnScalingFactory::build(Context& ctx,
                                                            System const& system) const {
  return from_entries(ctx, system, "column_scaling", Real::f64, {inverse_lengths, {}});
}

}  // namespace tcsolve
