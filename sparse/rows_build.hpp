// SPDX-License-Identifier: Apache-2.0
/// Sums and diagonals of rows, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/sparse/pattern_build.hpp>
#include <tcsolve/sparse/rows.hpp>

namespace tcsolve::sparse {

template <class T>
TCSOLVE_HD T size_of_value(T v) {
  return v < 0 ? -v : v == 0 ? T(0) : v;
}

template <class T>
struct SumOfRow {
  Sizes sizes;
  T* y;
  TCSOLVE_HD void operator()(CsrView<T> const& a, std::int64_t i) const {
    T sum = 0;
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
      sum += sizes == Sizes::absolute ? size_of_value(a.values[k]) : a.values[k];
    y[i] = sum;
  }
};
template <class On, class T>
void sum_rows(On& on, CsrView<T> const& a, Sizes sizes, T* y) {
  on.each_row_of_values(a.rows, a, SumOfRow<T>{sizes, y});
}

/// Where row i has its diagonal entry; its end where it has none.
template <class A>
TCSOLVE_HD Offset find_diagonal(A const& a, std::int64_t i) {
  Offset const begin = a.offsets[i], end = a.offsets[i + 1];
  Offset const at = begin + first_not_below(a.columns + begin, end - begin, static_cast<Index>(i));
  return at < end && a.columns[at] == i ? at : end;
}

template <class T>
struct TakeDiagonal {
  CsrView<T> a;
  T* y;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const at = find_diagonal(a, i);
    y[i] = at < a.offsets[i + 1] ? a.values[at] : T(0);
  }
};
template <class On, class T>
void take_diagonal(On& on, CsrView<T> const& a, T* y) {
  on.each(a.rows, TakeDiagonal<T>{a, y});
}

template <class S, class T>
struct ResidualOfRow {
  CsrView<S> a;
  Index const* rows;
  Elements<T const> b, x;
  Elements<T> r;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    Index const i = rows[k];
    double left = double(b[i]);
    for (Offset e = a.offsets[i], end = a.offsets[i + 1]; e < end; ++e)
      left -= double(a.values[e]) * double(x[a.columns[e]]);
    r[i] = static_cast<T>(left);
  }
};
template <class On, class S, class T>
void residual_of_rows(On& on, CsrView<S> const& a, In<Index> rows, In<T> b, In<T> x, Out<T> r) {
  on.each(rows.rows, ResidualOfRow<S, T>{a, rows.data, b, x, r});
}

}  // namespace tcsolve::sparse
