// SPDX-License-Identifier: Apache-2.0
/// Scales that round nothing.
#pragma once

#include <cmath>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

/// 2^-e with 2^e <= x < 2^(e+1), e within 500 of 0; 1 where x is not positive and finite.
TCSOLVE_HD double inverse_power(double x) {
  if (!(x > 0 && x <= 0x1.fffffffffffffp+1023)) return 1;
  int const e = ilogb(x);
  return ldexp(1.0, -(e < -500 ? -500 : e > 500 ? 500 : e));
}

}  // namespace tcsolve
