// SPDX-License-Identifier: Apache-2.0
/// A matrix rounded to a narrow type after scaling by powers of two, so that nothing of it becomes
/// infinite or zero on the way (Higham, Pranesh and Zounon 2019, "Squeezing a matrix into half
/// precision", section 2; powers of two are exact).
#pragma once

#include <vector>

#include <tcsolve/formats/transfer.hpp>

namespace tcsolve {

enum class Scaling {
  powers_of_two,  ///< scale rows, then columns as well, where the range is left
  refuse          ///< throw instead
};

/// values_ij = round(a_ij 2^(rows_i + cols_j)); an empty list is all zeros.
template <class S>
struct ScaledCsr {
  Csr<S> matrix;
  std::vector<int> rows, cols;
};

/// Throws MatrixError, naming row and column, when a value would become infinite, or zero without
/// being zero: at once with Scaling::refuse, else when no scaling found here holds it. Rows are
/// scaled when a value would be infinite, zero or subnormal; columns as well only when rows do not
/// suffice. Cost: up to a few passes over the matrix on the host.
template <class S>
ScaledCsr<S> scaled(Csr<double> const& a, Scaling);

/// The same of a matrix in either space, which comes to the host.
template <class S, class T>
ScaledCsr<S> scaled(Context& ctx, CsrView<T> const& a, Scaling scaling) {
  Csr<T> here = to_host(ctx, a);
  return scaled<S>(Csr<double>{here.rows,
                               here.cols,
                               std::move(here.offsets),
                               std::move(here.columns),
                               {here.values.begin(), here.values.end()}},
                   scaling);
}

}  // namespace tcsolve
