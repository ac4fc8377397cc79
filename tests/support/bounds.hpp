// SPDX-License-Identifier: Apache-2.0
/// y = alpha op(A) x + beta y0 in long double, and the elementwise bound (Higham 2002, section 3.1)
///     |y - exact|_i <= g_i (|alpha| |A||x| + |beta| |y0|)_i,
///     g_i = 1.01 (m u_acc / (1 - m u_acc) + 2 u_in + u_out),  m = 2 + stored entries in row i,
/// where A is the matrix as stored. u_acc is that of the accumulator, u_out that of y, u_in that of
/// the multiplication when it is coarser than the vectors (x is rounded on the way in), else 0.
#pragma once

#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tcsolve::test {

/// A block of vectors on the host, rows x k, row by row.
struct Exact {
  Index k = 1;
  std::vector<long double> value, magnitude;  // (rows, k)
  std::vector<Index> length;                  // (rows): stored entries
};

inline Exact exact_apply(Csr<double> const& a, Op op, long double alpha,
                         std::vector<double> const& x, long double beta,
                         std::vector<double> const& y0, Index k) {
  Index rows = op == Op::none ? a.rows : a.cols;
  std::vector<long double> zeros(static_cast<std::size_t>(rows) * k);
  Exact e{k, zeros, zeros, std::vector<Index>(rows)};
  for (Index i = 0; i < a.rows; ++i)
    for (Offset at = a.offsets[i]; at < a.offsets[i + 1]; ++at) {
      std::size_t row = op == Op::none ? i : a.columns[at],
                  col = op == Op::none ? a.columns[at] : i;
      ++e.length[row];
      for (Index j = 0; j < k; ++j) {
        long double product = static_cast<long double>(a.values[at]) * x[col * k + j];
        e.value[row * k + j] += product;
        e.magnitude[row * k + j] += std::abs(product);
      }
    }
  for (std::size_t i = 0; i < e.value.size(); ++i) {
    e.value[i] *= alpha;
    e.magnitude[i] *= std::abs(alpha);
    if (beta == 0) continue;
    e.value[i] += beta * y0[i];
    e.magnitude[i] += std::abs(beta * y0[i]);
  }
  return e;
}

/// g_i for a row of `length` entries whose result is rounded to `out`.
inline long double growth(Precision const& p, Real out, Index length) {
  long double acc = roundoff(p.accumulate), m = 2 + length;
  long double in = size_of(p.multiply) < size_of(out) ? roundoff(p.multiply) : 0;
  return 1.01L * (m * acc / (1 - m * acc) + 2 * in + roundoff(out));
}

/// Results below the range of normal numbers are off by a multiple of the smallest number.
inline long double underflow(Real out, Index length) {
  long double smallest = out == Real::f64 ? std::numeric_limits<double>::denorm_min()
                                          : std::numeric_limits<float>::denorm_min();
  return (2 + length) * smallest;
}

inline ::testing::AssertionResult within(Precision const& p, Real out, Exact const& e,
                                         std::vector<double> const& got) {
  if (got.size() != e.value.size()) return ::testing::AssertionFailure() << "wrong size";
  for (std::size_t i = 0; i < got.size(); ++i) {
    Index length = e.length[i / e.k];
    long double allowed = growth(p, out, length) * e.magnitude[i] + underflow(out, length);
    long double error = std::abs(got[i] - e.value[i]);
    if (!(error <= allowed))
      return ::testing::AssertionFailure()
             << "row " << i / e.k << ", column " << i % e.k << ": " << got[i] << ", exact "
             << e.value[i] << ", error " << error << " > " << allowed;
  }
  return ::testing::AssertionSuccess();
}

/// Error of a sum of n FP64 terms in any order; `magnitude` is the sum of their absolute values.
inline double sum_bound(std::size_t n, long double magnitude) {
  long double m = static_cast<long double>(n) + 2;
  return static_cast<double>(1.01L * m * 0x1p-53L * magnitude);
}

/// v rounded to T, as a double.
template <class T>
double rounded(double v) {
  return double(T(v));
}
template <class T>
std::vector<double> rounded(std::vector<double> values) {
  for (double& v : values) v = rounded<T>(v);
  return values;
}
template <class S>
Csr<double> rounded(Csr<double> a) {
  a.values = rounded<S>(std::move(a.values));
  return a;
}

}  // namespace tcsolve::test
