// SPDX-License-Identifier: Apache-2.0
/// What an application of factors by sweeps goes through (factors/apply/swept_inverse.hpp), on
/// vectors of T.
#pragma once

#include <memory>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

template <class T>
struct SweptProducts {
  using Product = std::shared_ptr<LinearOperator<T> const>;
  /// T = I + N; W is null where it is the identity.
  struct Triangle {
    Product N, W;
  };
  int sweeps;
  Product enter;
  Triangle lower;
  Product pivots;
  Triangle upper;
  Product leave;

  /// y = alpha op(M) x + beta y.
  void apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const;

 private:
  void solve(Context&, Triangle const&, Out<T> y, Op) const;
  void sweep(Context&, Triangle const&, Out<T> y, Op) const;
};

}  // namespace tcsolve
