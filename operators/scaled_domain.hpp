// SPDX-License-Identifier: Apache-2.0
/// The column scaling of a matrix, undone on x before a product.
#pragma once

#include <cmath>
#include <vector>

#include <tcsolve/formats/scaled.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// 2^-e as T in the Context's space; nothing for an empty list. Throws MatrixError where that is
/// out of T's range.
template <class T>
Array<T> undo(Context& ctx, std::vector<int> const& exponents, char const* what) {
  std::vector<T> factors;
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    factors.push_back(T(std::ldexp(1.0, -exponents[i])));
    if (!std::isnormal(factors.back()))
      throw MatrixError(cat(what, " ", i, ": its scale 2^", -exponents[i], " is outside the range",
                            " of the vectors; use wider vectors"));
  }
  return to_space(ctx, factors.data(), factors.size());
}

/// ||A||_inf of the matrix before it was scaled.
template <class S>
double norm_inf(ScaledCsr<S> const& a) {
  double norm = 0;
  for (Index i = 0; i < a.matrix.rows; ++i) {
    double sum = 0;
    for (Offset k = a.matrix.offsets[i]; k < a.matrix.offsets[i + 1]; ++k) {
      int e = (a.rows.empty() ? 0 : a.rows[i]) + (a.cols.empty() ? 0 : a.cols[a.matrix.columns[k]]);
      sum += std::ldexp(std::abs(double(a.matrix.values[k])), -e);
    }
    norm = std::max(norm, sum);
  }
  return norm;
}

/// x with each entry times 2^-(its column's exponent), a column of a block at a time.
template <class T>
class ScaledDomain {
 public:
  ScaledDomain() = default;
  ScaledDomain(Context& ctx, std::vector<int> const& exponents)
      : factors_(undo<T>(ctx, exponents, "column")), scaled_(ctx.space(), factors_.size()) {}
  /// product(x', y) for the scaled x', a column at a time; x itself where nothing is scaled.
  template <class F>
  void multiply(Context& ctx, In<T> x, Out<T> y, F const& product) const {
    if (factors_.size() == 0) return product(x, y);
    for (Index j = 0; j < y.cols; ++j) {
      Out<T> to = y;
      to.data += y.offset(0, j), to.cols = 1;
      product(column(ctx, x, j), to);
    }
  }

 private:
  /// Column j of x, scaled; good until the next call.
  In<T> column(Context& ctx, In<T> x, Index j) const {
    In<T> from = x;
    from.data += x.offset(0, j), from.cols = 1;
    Out<T> to = const_cast<Array<T>&>(scaled_).view();
    sweep(ctx, Multiply<T>{x.rows, 1.0, factors_.data(), from, 0.0, to});
    return to;
  }

  Array<T> factors_;
  Array<T> scaled_;
};

}  // namespace tcsolve
