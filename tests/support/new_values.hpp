// SPDX-License-Identifier: Apache-2.0
/// What tests of new values share: two operators multiply alike.
#pragma once

#include <tcsolve/operators/linear_operator.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {

/// Both say NaN, or have the same bits.
inline bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
void expect_same_products(Context& ctx, LinearOperator<T> const& A, LinearOperator<T> const& B) {
  EXPECT_TRUE(same(A.norm_estimate(), B.norm_estimate()))
      << A.norm_estimate() << " and " << B.norm_estimate();
  for (Op op : {Op::none, Op::transpose}) {
    if (op == Op::transpose && !A.traits().transpose) continue;
    Index domain = op == Op::none ? A.cols() : A.rows(),
          range = op == Op::none ? A.rows() : A.cols();
    for (Index k : {1, 3}) {
      auto x = rounded<T>(random_values(std::size_t(domain) * k, 5));
      Guarded<T> gx(ctx, domain, k, Layout::row_major, 0, x);
      std::vector<double> unset(std::size_t(range) * k, std::numeric_limits<double>::quiet_NaN());
      Guarded<T> y(ctx, range, k, Layout::row_major, 0, unset),
          z(ctx, range, k, Layout::row_major, 0, unset);
      A.apply(ctx, T(1), gx.in(), T(0), y.view(), op);
      B.apply(ctx, T(1), gx.in(), T(0), z.view(), op);
      auto left = y.get(), right = z.get();
      for (std::size_t i = 0; i < left.size(); ++i)
        ASSERT_TRUE(same(left[i], right[i]))
            << "element " << i << ", k " << k << ": " << left[i] << " and " << right[i];
      EXPECT_TRUE(y.untouched());
    }
  }
}

}  // namespace tcsolve::test
