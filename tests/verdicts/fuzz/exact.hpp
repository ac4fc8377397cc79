// SPDX-License-Identifier: Apache-2.0
/// Residuals without rounding (tests/support/exact_sum.hpp): what rows of 1e-300 and 1e300 leave of
/// each other is known to the last bit.
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/exact_sum.hpp"
#include "tests/verdicts/fuzz/case.hpp"

namespace tcsolve::fuzz {

using Exact = long double;  ///< holds the range of products of two doubles

/// ||v||_2.
inline long double norm(std::vector<Exact> const& v) {
  Exact sum = 0;
  for (Exact const e : v) sum += e * e;
  return std::sqrt(static_cast<long double>(sum));
}
inline long double norm(std::vector<double> const& v) {
  return norm(std::vector<Exact>(v.begin(), v.end()));
}

/// b - A x, each row rounded once.
inline std::vector<Exact> residual(System const& s, std::vector<double> const& b,
                                   std::vector<double> const& x) {
  std::vector<test::ExactSum> rows(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) rows[i].add(b[i]);
  for (Value const& e : s.entries) rows[std::size_t(e.row)].add(-e.value, x[std::size_t(e.column)]);
  std::vector<Exact> r;
  for (test::ExactSum const& row : rows) r.push_back(row.value());
  return r;
}

/// |A| |x| + |b|: what the roundings of a residual are relative to.
inline std::vector<Exact> magnitude(System const& s, std::vector<double> const& b,
                                    std::vector<double> const& x) {
  std::vector<Exact> sum;
  for (double const e : b) sum.push_back(std::abs(e));
  for (Value const& e : s.entries)
    sum[e.row] += Exact(std::abs(e.value)) * Exact(std::abs(x[e.column]));
  return sum;
}

/// What the norm of a residual that is summed in precision `unit` may differ by from the exact one,
/// now = ||r||, with m rows of at most k entries and u = 2^-53:
///     forming r       2 (k + 3)^2 unit (|A| |x| + |b|)_i for unit = u^2 (kernels/residual.hpp),
///                     (k + 3) unit of it for unit = u; then u |r_i|
///     underflow       2^-1074 for each of the k + 3 operations
///     taking ||r||    (m / 2 + 2) u ||r||, m squares summed in FP64 and a root (Higham 2002, 3.1)
/// with a unit more for the rounding of what it is compared with.
inline long double residual_slack(System const& s, std::vector<double> const& b,
                                  std::vector<double> const& x, long double now, long double unit) {
  long double const u = 0x1p-53L, m = s.rows, k = s.cols + 3;
  long double const sums = unit < u ? 2 * k * k * unit : k * unit;
  return (m / 2 + 4) * u * now + sums * norm(magnitude(s, b, x)) + k * std::sqrt(m) * 0x1p-1074L;
}
/// What an exact norm may exceed that of a residual in twice the precision by, the sums of which
/// are given their largest size where they are not known to twelve digits.
inline long double excess(System const& s, long double now) {
  return (0x1p-39L + (s.rows / 2.0L + 4) * 0x1p-53L) * now +
         (s.cols + 3) * std::sqrt(static_cast<long double>(s.rows)) * 0x1p-1074L;
}
inline constexpr long double working = 0x1p-53L, twice_working = 0x1p-106L;

}  // namespace tcsolve::fuzz
