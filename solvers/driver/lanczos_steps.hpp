// SPDX-License-Identifier: Apache-2.0
/// The condition of M A as conjugate gradients see it on their way. The lengths a_j of their steps
/// and b_j = rho_j / rho_{j-1} are a Lanczos matrix of M A (Saad 2003, section 6.7.3),
///
///     T = [ 1/a_0           sqrt(b_1)/a_0                               ]
///         [ sqrt(b_1)/a_0   1/a_1 + b_1/a_0   sqrt(b_2)/a_1             ]
///         [                 sqrt(b_2)/a_1     1/a_2 + b_2/a_1   .  .  . ]
///
/// whose extreme eigenvalues lie within those of M A, and tend to them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

/// The first steps of a run. They are noted where the method computes and looked at by the host.
struct LanczosSteps {
  static constexpr int room = 2048;
  int count;  ///< of the steps that are noted
  double a[room], b[room];

  TCSOLVE_HD void begin() { count = 0; }
  /// A step of length a along p = z + b p; b = 0 in the first one. One that is none says nothing.
  TCSOLVE_HD void note(double length, double beta) {
    if (count == room || !(length > 0) || !(beta >= 0)) return;
    a[count] = length, b[count] = beta;
    ++count;
  }

  /// The largest eigenvalue of T over the smallest one, to a few per cent; 0 without a step;
  /// infinite where T is not positive definite to rounding. Cost: some 40 passes over the steps.
  double condition() const {
    if (count == 0) return 0;
    double bound = 0;  // Gershgorin
    for (int j = 0; j < count; ++j)
      bound = std::max(bound, diagonal(j) + std::sqrt(beside2(j)) +
                                  (j + 1 < count ? std::sqrt(beside2(j + 1)) : 0.0));
    if (!std::isfinite(bound)) return std::numeric_limits<double>::infinity();
    constexpr double least = 0x1p-50;  // of the bound: what FP64 tells from 0
    double const smallest = between(least * bound, bound, 1),
                 largest = between(least * bound, bound * (1 + 0x1p-50), count);
    return smallest > 2 * least * bound ? largest / smallest
                                        : std::numeric_limits<double>::infinity();
  }

 private:
  double diagonal(int j) const { return 1 / a[j] + (j > 0 ? b[j] / a[j - 1] : 0.0); }
  double beside2(int j) const { return j > 0 ? b[j] / (a[j - 1] * a[j - 1]) : 0.0; }
  /// How many eigenvalues lie below s: the negative pivots of T - s (Sylvester).
  int below(double s) const {
    constexpr double tiny = std::numeric_limits<double>::min();
    int negative = 0;
    double pivot = 1;
    for (int j = 0; j < count; ++j) {
      pivot = diagonal(j) - s - beside2(j) / pivot;
      if (std::abs(pivot) < tiny) pivot = -tiny;
      negative += pivot < 0;
    }
    return negative;
  }
  /// The k-th smallest eigenvalue, by bisection of the exponent.
  double between(double low, double high, int k) const {
    while (high > 1.02 * low) {
      double const middle = std::sqrt(low) * std::sqrt(high);
      (below(middle) >= k ? high : low) = middle;
    }
    return high;
  }
};

}  // namespace tcsolve
