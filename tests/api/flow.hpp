// SPDX-License-Identifier: Apache-2.0
/// A system whose matrix is not its transpose, for what one call may ask for.
#pragma once

#include <cmath>
#include <vector>

#include <tcsolve/io/generate/generators.hpp>

namespace tcsolve {

inline Csr<double> flow(Index n = 12) { return generate(ConvdiffParams{.n = n}); }

inline std::vector<double> numbers(Index n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + std::sin(static_cast<double>(i));
  return b;
}

/// ||b - A^T x|| / ||b||, by the entries of A.
inline double transposed_residual(Csr<double> const& a, std::vector<double> const& b,
                                  std::vector<double> const& x) {
  std::vector<double> r = b;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      r[static_cast<std::size_t>(a.columns[k])] -= a.values[k] * x[static_cast<std::size_t>(i)];
  double rr = 0, bb = 0;
  for (std::size_t i = 0; i < r.size(); ++i) rr += r[i] * r[i], bb += b[i] * b[i];
  return std::sqrt(rr / bb);
}

}  // namespace tcsolve
