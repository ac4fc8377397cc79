// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/pivots.hpp>

namespace tcsolve {

double row_size(CsrView<double> const& B, Index i) {
  double largest = 0, sum = 0;
  Offset const begin = B.offsets[i], end = B.offsets[i + 1];
  for (Offset k = begin; k < end; ++k) largest = std::max(largest, std::abs(B.values[k]));
  if (!(largest > 0)) return 0;
  for (Offset k = begin; k < end; ++k) sum += (B.values[k] / largest) * (B.values[k] / largest);
  return largest * std::sqrt(sum / static_cast<double>(end - begin));
}

double inverse_pivot(double pivot, double floor, Index& replaced) {
  if (!(std::abs(pivot) >= floor) || pivot == 0) {
    ++replaced;
    double const size = floor > 0 ? floor : 1;
    pivot = std::signbit(pivot) ? -size : size;
  }
  double const inverse = 1 / pivot;
  return std::isfinite(inverse) ? inverse : std::copysign(0x1p+1000, pivot);
}

std::vector<double> positive_diagonal(Csr<double> const& B) {
  std::vector<double> diagonal(static_cast<std::size_t>(B.rows), 0.0);
  for (Index i = 0; i < B.rows; ++i) {
    auto const columns = B.row_columns(i);
    auto const at = std::lower_bound(columns.begin(), columns.end(), i);
    if (at != columns.end() && *at == i) diagonal[i] = B.row_values(i)[at - columns.begin()];
    if (!(diagonal[i] > 0))
      throw MatrixError(cat("the diagonal entry of row ", i + 1,
                            " is not positive, so that the matrix is not positive definite"));
  }
  return diagonal;
}

}  // namespace tcsolve
