// SPDX-License-Identifier: Apache-2.0
/// cost() counts the stored matrix and the vectors, each once, to the byte: what the contract of
/// all formats (operator_interface.cpp) can only bound.
#pragma once

#include <tcsolve/operators/linear_operator.hpp>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {

/// cost(k).bytes of make(ctx, a) is stored(A, a) and k columns of x and y.
template <class T, class S, class Make, class Stored>
void check_cost(Context& ctx, Make const& make, Stored const& stored) {
  for (Csr<double> const& matrix :
       {random_matrix(30, 50, 9, 2), Csr<double>{0, 3, {0}, {}, {}}, mixed_rows(50, 40, 3)}) {
    Csr<S> const a = converted<S>(matrix);
    auto const A = make(ctx, a.view());
    for (Index k : {1, 8, 33})
      EXPECT_DOUBLE_EQ(A.cost(k).bytes,
                       stored(A, a) + double(k) * (double(a.rows) + a.cols) * sizeof(T));
  }
}

/// Of an operator whose converted matrix counts the bytes of its arrays.
template <class Operator, class T, class S, class... Options>
void check_cost_of(Context& ctx, Options const&... options) {
  check_cost<T, S>(
      ctx, [&](Context& c, CsrView<S> const& a) { return Operator(c, a, options...); },
      [](Operator const& A, Csr<S> const&) { return double(A.matrix().bytes()); });
}

}  // namespace tcsolve::test
