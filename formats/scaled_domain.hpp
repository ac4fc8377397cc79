// SPDX-License-Identifier: Apache-2.0
/// The column scaling of a matrix, undone on x before a product.
#pragma once

#include <utility>

#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// x with each entry times 2^-(its column's exponent), a column of a block at a time.
template <class T>
class ScaledDomain {
 public:
  ScaledDomain() = default;
  /// `factors`: NarrowCsr::undone_columns.
  ScaledDomain(Context& ctx, Array<T> factors)
      : factors_(std::move(factors)), scaled_(ctx.space(), factors_.size()) {}
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
    submit(ctx, Multiply<T>{x.rows, 1.0, factors_.data(), from, 0.0, to});
    return to;
  }

  Array<T> factors_;
  Array<T> scaled_;
};

}  // namespace tcsolve
