// SPDX-License-Identifier: Apache-2.0
/// What the tests of formats share: matrices of every mix of row lengths, the types they
/// run over, and the check of fused products.
#pragma once

#include <tcsolve/core/half.hpp>
#include <tcsolve/operators/linear_operator.hpp>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {

using StoredOnBoth = on_both<double, float, half, bfloat16>;

/// Vectors of V, values of S.
template <class V, class S>
struct Pair {
  using Value = V;
  using Stored = S;
};
template <class B, class P>
struct PairOn : On<B, typename P::Value> {
  using Stored = typename P::Stored;
  static std::string label() { return On<B, typename P::Value>::label() + "_" + type_name<Stored>; }
};
using PairsOnBoth = on_backends<PairOn, Pair<double, double>, Pair<double, float>,
                                Pair<double, half>, Pair<double, bfloat16>, Pair<float, float>,
                                Pair<float, half>, Pair<float, bfloat16>>;

/// An array of the Context's space holds what one of the host does, bit by bit.
template <class T>
bool same_bits(Context& ctx, Array<T> const& there, Array<T> const& here) {
  auto copy = to_host(ctx, there);
  return copy.size() == here.size() &&
         (copy.empty() || std::memcmp(copy.data(), here.data(), here.bytes()) == 0);
}

/// Values of T; those beyond its range are made small.
template <class T>
Csr<T> representable(Csr<double> a) {
  for (double& v : a.values)
    if (!std::isfinite(double(T(v)))) v = std::copysign(3.0, v);
  return converted<T>(a);
}

template <class S>
Csr<double> widened(Csr<S> const& a) {
  Csr<double> out{a.rows, a.cols, a.offsets, a.columns, {}};
  for (S v : a.values) out.values.push_back(double(v));
  return out;
}

/// The adversarial list; random matrices of 0 to 300 rows and columns whose rows are all short, all
/// medium, long, mixed, or clustered in blocks; columns farther apart than 16 bits reach.
inline std::vector<Named> const& for_conversion() {
  static std::vector<Named> const list = [] {
    auto list = adversarial();
    std::mt19937_64 bits(17);
    for (int i = 0; i < 12; ++i) {
      Index rows = static_cast<Index>(bits() % 301), cols = static_cast<Index>(bits() % 301);
      Index most = std::vector<Index>{1, 3, 4, 9, 40, 300}[i % 6];
      list.push_back({cat("random ", rows, " x ", cols, ", rows up to ", most),
                      random_matrix(rows, cols, most, 100 + i)});
      list.push_back({cat("mixed ", rows, " x ", cols), mixed_rows(rows, cols, 200 + i)});
    }
    list.push_back({"mixed with long rows", mixed_rows(61, 2000, 5)});
    list.push_back({"far columns", random_matrix(70, 200000, 12, 11)});
    list.push_back({"long rows, far columns", random_matrix(9, 300000, 900, 12)});
    list.push_back({"all of length 4", [] {
                      Csr<double> a{100, 90, {0}, {}, {}};
                      for (Index i = 0; i < a.rows; ++i) {
                        for (Index j = 0; j < 4; ++j)
                          a.columns.push_back((i * 7) % 40 + 11 * j), a.values.push_back(i - j);
                        a.offsets.push_back(a.entries());
                      }
                      return a;
                    }()});
    list.push_back({"dense 67 x 45", [] {
                      Csr<double> a{67, 45, {0}, {}, {}};
                      for (Index i = 0; i < a.rows; ++i) {
                        for (Index j = 0; j < a.cols; ++j)
                          a.columns.push_back(j), a.values.push_back(0.01 * i + j);
                        a.offsets.push_back(a.entries());
                      }
                      return a;
                    }()});
    return list;
  }();
  return list;
}

/// <x, A x> and b - A x of a square operator, against long double.
template <class T>
void check_dot_and_residual(Context& ctx, LinearOperator<T> const& A, Csr<double> const& a) {
  auto x = rounded<T>(random_values(a.cols, 1)), b = rounded<T>(random_values(a.rows, 2));
  Guarded<T> gx(ctx, x), gb(ctx, b), gy(ctx, b), gr(ctx, b);
  There<double> sigma(ctx, -1.0);
  A.apply_dot(ctx, gx.in(), gy.view(), sigma.data());
  A.residual(ctx, gb.in(), gx.in(), gr.view());
  Precision p = A.traits().precision;
  Exact y = exact_apply(a, Op::none, 1, x, 0, {}, 1);
  Exact r = exact_apply(a, Op::none, -1, x, 1, b, 1);
  EXPECT_TRUE(within(p, real_of<T>, y, gy.get()));
  EXPECT_TRUE(within(p, real_of<T>, r, gr.get()));
  long double exact = 0, magnitude = 0;
  auto got = gy.get();
  for (Index i = 0; i < a.rows; ++i) {
    exact += static_cast<long double>(x[i]) * got[i];
    magnitude += std::abs(static_cast<long double>(x[i]) * got[i]);
  }
  EXPECT_NEAR(sigma.get(), double(exact), sum_bound(a.rows, magnitude));
}

}  // namespace tcsolve::test
