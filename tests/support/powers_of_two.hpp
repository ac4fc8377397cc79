// SPDX-License-Identifier: Apache-2.0
/// Matrices whose entries are scaled exactly.
#pragma once

#include <cmath>

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve::test {

/// Values times 2^exponent(i, j).
template <class F>
Csr<double> times(Csr<double> a, F const& exponent) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] = std::ldexp(a.values[k], exponent(i, a.columns[k]));
  return a;
}

}  // namespace tcsolve::test
