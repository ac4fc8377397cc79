// SPDX-License-Identifier: Apache-2.0
/// Sums in twice the working precision: the error of every addition and product is caught exactly
/// and added up beside the sum (Ogita, Rump and Oishi 2005, Accurate sum and dot product, section
/// 5; Knuth's TwoSum; TwoProd by a fused multiply-add).
#pragma once

#include <cmath>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

// Each operation is rounded on its own: contraction to a fused multiply-add would break the sums
// below. nvcc takes intrinsics; the host compiler gets -ffp-contract=off (CMakeLists.txt).
#if defined(__CUDA_ARCH__)
TCSOLVE_HD double plus_rounded(double a, double b) { return __dadd_rn(a, b); }
TCSOLVE_HD double times_rounded(double a, double b) { return __dmul_rn(a, b); }
#else
TCSOLVE_HD double plus_rounded(double a, double b) { return a + b; }
TCSOLVE_HD double times_rounded(double a, double b) { return a * b; }
#endif

/// high + low, not evaluated. m terms added one after the other leave an error of at most
/// (m u)^2 times the sum of their sizes, u = 2^-53.
struct Twofold {
  double high, low;

  /// += a + error: the rounding error of the sum is added to `low`, with `error`. Returns a bound
  /// of what the sum loses for good: what `low` cannot hold. Sums of numbers of few digits lose
  /// nothing.
  TCSOLVE_HD double add(double a, double error = 0) {
    double const sum = plus_rounded(high, a), lost = error_of(sum, high, a);
    double const caught = plus_rounded(lost, error);
    double const rest = plus_rounded(low, caught), beyond = error_of(rest, low, caught);
    bool const rounded = lost != 0 && error != 0;
    high = sum;
    low = rest;
    return size_of(beyond) + (rounded ? 0x1p-53 * size_of(caught) : 0.0);
  }
  /// -= a b. Returns as add() does.
  TCSOLVE_HD double subtract_product(double a, double b) {
    double const product = times_rounded(a, b);
    return add(-product, -fma(a, b, -product));
  }
  TCSOLVE_HD double add(Twofold const& other) { return add(other.high, other.low); }
  /// Rounded once. Beyond the range of FP64 the errors mean nothing.
  TCSOLVE_HD double rounded() const {
    double const sum = plus_rounded(high, low);
    return sum == sum ? sum : high;
  }
  /// What rounded() leaves out.
  TCSOLVE_HD double rest() const {
    double const sum = plus_rounded(high, low);
    double const left = plus_rounded(low, -plus_rounded(sum, -high));
    return left == left ? left : 0.0;
  }

 private:
  /// a + b - sum, exactly, where sum = a + b was rounded (Knuth's TwoSum).
  TCSOLVE_HD static double error_of(double sum, double a, double b) {
    double const part = plus_rounded(sum, -a);
    return plus_rounded(plus_rounded(a, -plus_rounded(sum, -part)), plus_rounded(b, -part));
  }
  TCSOLVE_HD static double size_of(double a) { return a < 0 ? -a : a; }
};

}  // namespace tcsolve
