// SPDX-License-Identifier: Apache-2.0
/// Residuals in arithmetic of 113 bits and an exponent that does not end: products of two doubles
/// are exact, so that what remains is the rounding of k sums,
///     |r - r_exact|_i <= (k + 1) 2^-113 (|A| |x| + |b|)_i        Higham 2002, section 3.1
/// which is beyond anything that FP64, or twice its precision, can tell.
#pragma once

#include <cmath>
#include <vector>

#include "tests/verdicts/fuzz/case.hpp"

namespace tcsolve::fuzz {

#ifdef __SIZEOF_FLOAT128__
__extension__ using Exact = __float128;
#else
using Exact = long double;  // of 113 bits where there is no __float128
#endif

/// ||v||_2.
inline long double norm(std::vector<Exact> const& v) {
  Exact sum = 0;
  for (Exact const e : v) sum += e * e;
  return std::sqrt(static_cast<long double>(sum));
}
inline long double norm(std::vector<double> const& v) {
  return norm(std::vector<Exact>(v.begin(), v.end()));
}

/// b - A x.
inline std::vector<Exact> residual(System const& s, std::vector<double> const& x) {
  std::vector<Exact> r(s.b.begin(), s.b.end());
  for (Value const& e : s.entries) r[e.row] -= Exact(e.value) * Exact(x[e.column]);
  return r;
}

/// |A| |x| + |b|: what the roundings of a residual are relative to.
inline std::vector<Exact> magnitude(System const& s, std::vector<double> const& x) {
  std::vector<Exact> sum;
  for (double const e : s.b) sum.push_back(std::abs(e));
  for (Value const& e : s.entries)
    sum[e.row] += Exact(std::abs(e.value)) * Exact(std::abs(x[e.column]));
  return sum;
}

/// What the norm of a residual that is summed in precision `unit` may differ by from the exact one,
/// now = ||r||, with m rows of at most k entries and u = 2^-53:
///     forming r       (k + 3)^2 unit (|A| |x| + |b|)_i for unit = u^2 (compensated: Ogita, Rump
///     and
///                     Oishi 2005, Prop. 5.5), (k + 3) unit of it for unit = u; then u |r_i|
///     underflow       2^-1074 for each of the k + 3 operations
///     taking ||r||    (m / 2 + 2) u ||r||, m squares summed in FP64 and a root (Higham 2002, 3.1)
/// with a unit more for the rounding of what it is compared with.
inline long double residual_slack(System const& s, std::vector<double> const& x, long double now,
                                  long double unit) {
  long double const u = 0x1p-53L, m = s.rows, k = s.cols + 3;
  long double const sums = unit < u ? k * k * unit : k * unit;
  return (m / 2 + 4) * u * now + sums * norm(magnitude(s, x)) + k * std::sqrt(m) * 0x1p-1074L;
}
inline constexpr long double working = 0x1p-53L, twice_working = 0x1p-106L;

}  // namespace tcsolve::fuzz
