// SPDX-License-Identifier: Apache-2.0
/// What tests of new values share: two operators multiply alike, and new values that have to be
/// scaled anew.
#pragma once

#include <tcsolve/matrix/scaled.hpp>
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

/// New values for the operator of a narrow type that scales what would leave its range: what fits,
/// what has to be scaled anew, what no scaling holds.
template <class Operator, class T, class S>
void are_scaled_anew(Context& ctx) {
  Csr<double> plain = dominant(90, 12, 8);
  auto spread = [&](auto const& exponent) {
    Csr<double> a = plain;
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        a.values[k] = std::ldexp(a.values[k], wider<S> * exponent(i, a.columns[k]));
    return a;
  };
  std::vector<Csr<double>> list{plain, spread([](Index i, Index) { return i - 40; }),
                                spread([](Index, Index j) { return 45 - j; }),
                                spread([](Index i, Index j) { return i / 2 - j; }), plain};
  auto fresh = [&](Csr<double> const& a) {
    return std::make_shared<Operator>(ctx, scaled<S>(a, Scaling::powers_of_two));
  };
  for (Csr<double> const& first : list) {
    auto A = fresh(first), B = fresh(first);
    for (Csr<double> const& next : list) {
      Csr<T> typed = representable<T>(next);
      LinearOperator<T>& general = *A;
      general.update_values(ctx, typed.view());
      B->update_values(ctx, scaled<S>(widened(typed), Scaling::powers_of_two));
      expect_same_products<T>(ctx, *A, *fresh(widened(typed)));
      expect_same_products<T>(ctx, *B, *A);
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
  }
  // What no scaling holds is refused, and the operator stays as it was.
  Csr<double> one{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4}}, hopeless = one;
  double const far = std::ldexp(1, wider<S> * 80);
  hopeless.values = {far, 1, 1, far};
  auto A = fresh(one);
  LinearOperator<T>& general = *A;
  EXPECT_THROW(general.update_values(ctx, representable<T>(hopeless).view()), MatrixError);
  expect_same_products<T>(ctx, *A, *fresh(one));
  // Values of the stored type are taken as they are.
  Csr<S> h = converted<S>(plain);
  for (Csr<double> const& first : list) {
    auto B = fresh(first);
    B->update_values(ctx, h.view());
    expect_same_products<T>(ctx, *B, Operator(ctx, h.view()));
  }
}

}  // namespace tcsolve::test
