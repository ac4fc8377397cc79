// SPDX-License-Identifier: Apache-2.0
/// What reads a Krylov basis, on the host: column by column over a strip of rows that stays in the
/// first-level cache, in place of row by row across all columns, which lie n apart. The same
/// additions in the same order.
#pragma once

#include <algorithm>
#include <type_traits>

#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::host::strips {

constexpr std::int64_t strip = 512;  // rows: two sums of 4 KiB
constexpr Index together = 4;        // columns: a sum is read and written once for all of them

/// v_j = (u - V s) / rho;  u = (w - V t - kappa v_j) / (rho 2^e), rows [begin, end).
template <class T>
void update(ArnoldiUpdate<T> const& op, typename ArnoldiUpdate<T>::Coefficients const& c,
            std::int64_t begin, std::int64_t end, double* sum) {
  double const* const st = op.H.sums;
  double a[strip], b[strip];
  for (std::int64_t i0 = begin; i0 < end; i0 += strip) {
    std::int64_t const rows = std::min(strip, end - i0);
    for (std::int64_t i = 0; i < rows; ++i) {
      a[i] = double(op.u[i0 + i]);
      b[i] = double(op.w[i0 + i]);
    }
    Index k = 0;
    for (; k + together <= c.j; k += together) {
      T const* const v0 = op.V + k * op.n + i0;
      T const *const v1 = v0 + op.n, *const v2 = v1 + op.n, *const v3 = v2 + op.n;
      double const s0 = st[2 * k], s1 = st[2 * k + 2], s2 = st[2 * k + 4], s3 = st[2 * k + 6];
      double const t0 = st[2 * k + 1], t1 = st[2 * k + 3], t2 = st[2 * k + 5], t3 = st[2 * k + 7];
      for (std::int64_t i = 0; i < rows; ++i) {
        double const x0 = double(v0[i]), x1 = double(v1[i]), x2 = double(v2[i]), x3 = double(v3[i]);
        a[i] = a[i] - x0 * s0 - x1 * s1 - x2 * s2 - x3 * s3;
        b[i] = b[i] - x0 * t0 - x1 * t1 - x2 * t2 - x3 * t3;
      }
    }
    for (; k < c.j; ++k) {
      T const* const v = op.V + k * op.n + i0;
      for (std::int64_t i = 0; i < rows; ++i) {
        a[i] -= double(v[i]) * st[2 * k];
        b[i] -= double(v[i]) * st[2 * k + 1];
      }
    }
    for (std::int64_t i = 0; i < rows; ++i) sum[0] += op.write(i0 + i, c, a[i], b[i]);
  }
}

/// u = V y, rows [begin, end).
template <class T>
void combine(CombineBasis<T> const& op, typename CombineBasis<T>::Coefficients const& c,
             std::int64_t begin, std::int64_t end) {
  double a[strip];
  for (std::int64_t i0 = begin; i0 < end; i0 += strip) {
    std::int64_t const rows = std::min(strip, end - i0);
    std::fill_n(a, rows, 0.0);
    for (Index j = 0; j < c.columns; ++j) {
      T const* const v = op.V + j * op.n + i0;
      double const y = op.y[j];
      for (std::int64_t i = 0; i < rows; ++i) a[i] += double(v[i]) * y;
    }
    for (std::int64_t i = 0; i < rows; ++i) op.u[i0 + i] = T(a[i]);
  }
}

/// The inner products of u and w with columns k, ..., k + count - 1 of V, count <= together, rows
/// [begin, end).
template <class T>
void dots(Gram<T> const& op, Index k, Index count, std::int64_t begin, std::int64_t end,
          double* sum) {
  double s[together] = {}, t[together] = {};
  T const* v[together];
  for (Index l = 0; l < together; ++l)
    v[l] = op.V + std::int64_t{k + std::min(l, count - 1)} * op.n;
  auto add = [&](auto columns) {
    for (std::int64_t i = begin; i < end; ++i) {
      double const ui = double(op.u[i]), wi = double(op.w[i]);
      for (Index l = 0; l < columns; ++l) {
        double const x = double(v[l][i]);
        s[l] += x * ui;
        t[l] += x * wi;
      }
    }
  };
  if (count == together)
    add(std::integral_constant<Index, together>{});
  else
    add(count);
  for (Index l = 0; l < count; ++l) {
    sum[2 * l] = s[l];
    sum[2 * l + 1] = t[l];
  }
}

}  // namespace tcsolve::host::strips
