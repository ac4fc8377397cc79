// SPDX-License-Identifier: Apache-2.0
/// What reads a Krylov basis, on the host: column by column over a strip of rows that stays in the
/// first-level cache, in place of row by row across all columns, which lie n apart. The same
/// additions in the same order.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::host::strips {

constexpr std::int64_t strip = 512;  // rows: two sums of 4 KiB
constexpr Index together = 4;        // columns: a sum is read and written once for all of them

/// Rows [begin, end) of v_j and the next u, from a = u - V s and b = w - V t.
template <class T, class S>
void write(ArnoldiUpdate<T, S> const& op, typename ArnoldiUpdate<T, S>::Coefficients const& c,
           std::int64_t begin, std::int64_t end, double const* a, double const* b, double* sum) {
  constexpr std::int64_t together = Basis<S>::together;
  if constexpr (together == 1) {
    for (std::int64_t i = begin; i < end; ++i) sum[0] += op.write(i, c, a[i - begin], b[i - begin]);
  } else {
    static_assert(chunk % together == 0 && strip % together == 0);
    for (std::int64_t i0 = begin; i0 < end; i0 += together) {
      std::int64_t const last = std::min(end, i0 + together);
      double largest = 0;
      for (std::int64_t i = i0; i < last; ++i)
        largest = std::max(largest, std::abs(a[i - begin] * c.to_v));
      int const e = Basis<S>::exponent(largest);
      for (std::int64_t i = i0; i < last; ++i)
        sum[0] +=
            op.write_next(i, c, double(op.V.put(c.j, i, a[i - begin] * c.to_v, e)), b[i - begin]);
    }
  }
}

/// v_j = (u - V s) / rho;  u = (w - V t - kappa v_j) / (rho 2^e), rows [begin, end).
template <class T, class S>
void update(ArnoldiUpdate<T, S> const& op, typename ArnoldiUpdate<T, S>::Coefficients const& c,
            std::int64_t begin, std::int64_t end, double* sum) {
  double const* const st = op.H.sums;
  double a[strip], b[strip];
  for (std::int64_t i0 = begin; i0 < end; i0 += strip) {
    std::int64_t const rows = std::min(strip, end - i0);
    for (std::int64_t i = 0; i < rows; ++i) {
      a[i] = double(op.u[i0 + i]);
      b[i] = double(op.w[i0 + i]);
    }
    auto const v = [&](Index k, std::int64_t i) { return double(op.V.at(k, i0 + i)); };
    Index k = 0;
    for (; k + together <= c.j; k += together) {
      double const s0 = st[2 * k], s1 = st[2 * k + 2], s2 = st[2 * k + 4], s3 = st[2 * k + 6];
      double const t0 = st[2 * k + 1], t1 = st[2 * k + 3], t2 = st[2 * k + 5], t3 = st[2 * k + 7];
      for (std::int64_t i = 0; i < rows; ++i) {
        double const x0 = v(k, i), x1 = v(k + 1, i), x2 = v(k + 2, i), x3 = v(k + 3, i);
        a[i] = a[i] - x0 * s0 - x1 * s1 - x2 * s2 - x3 * s3;
        b[i] = b[i] - x0 * t0 - x1 * t1 - x2 * t2 - x3 * t3;
      }
    }
    for (; k < c.j; ++k) {
      for (std::int64_t i = 0; i < rows; ++i) {
        a[i] -= v(k, i) * st[2 * k];
        b[i] -= v(k, i) * st[2 * k + 1];
      }
    }
    write(op, c, i0, i0 + rows, a, b, sum);
  }
}

/// u = V y, rows [begin, end).
template <class T, class S>
void combine(CombineBasis<T, S> const& op, typename CombineBasis<T, S>::Coefficients const& c,
             std::int64_t begin, std::int64_t end) {
  double a[strip];
  for (std::int64_t i0 = begin; i0 < end; i0 += strip) {
    std::int64_t const rows = std::min(strip, end - i0);
    std::fill_n(a, rows, 0.0);
    for (Index j = 0; j < c.columns; ++j) {
      double const y = op.y[j];
      for (std::int64_t i = 0; i < rows; ++i) a[i] += double(op.V.at(j, i0 + i)) * y;
    }
    for (std::int64_t i = 0; i < rows; ++i) op.u[i0 + i] = T(a[i]);
  }
}

/// The inner products of u and w with columns k, ..., k + count - 1 of V, count <= together, rows
/// [begin, end).
template <class T, class S>
void dots(Gram<T, S> const& op, Index k, Index count, std::int64_t begin, std::int64_t end,
          double* sum) {
  double s[together] = {}, t[together] = {};
  Index column[together];
  for (Index l = 0; l < together; ++l) column[l] = k + std::min(l, count - 1);
  auto add = [&](auto columns) {
    for (std::int64_t i = begin; i < end; ++i) {
      double const ui = double(op.u[i]), wi = double(op.w[i]);
      for (Index l = 0; l < columns; ++l) {
        double const x = double(op.V.at(column[l], i));
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
