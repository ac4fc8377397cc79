// SPDX-License-Identifier: Apache-2.0
/// Operators made of operators, and user callables, against dense Eigen: nested and transposed.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/function_operator.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Dense dense(Csr<double> const& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) += a.values[k];
  return d;
}

/// An operator, the matrix it stands for, and the matrix of the magnitudes that it adds up.
template <class T>
struct Known {
  OperatorPtr<T> op;
  Dense exact, magnitude;
  int terms;  ///< roundings on the way to one element
};

template <class P>
class CompositeContract : public BackendTest<P> {
 public:
  using T = typename P::Value;

  Known<T> csr(Index rows, Index cols, std::uint64_t seed) {
    Csr<double> a = rounded<T>(random_matrix(rows, cols, 9, seed));
    Dense d = dense(a);
    return {std::make_shared<CsrOperator<T>>(this->ctx(), converted<T>(a)), d, d.cwiseAbs(), 12};
  }
  /// A callable that applies a CSR matrix.
  Known<T> function(Index rows, Index cols, std::uint64_t seed, bool with_transpose) {
    Known<T> inner = csr(rows, cols, seed);
    typename FunctionOperator<T>::Options options;
    auto A = inner.op;
    if (with_transpose)
      options.transposed = [A](Context& c, In<T> x, Out<T> y) {
        A->apply(c, T(1), x, T(0), y, Op::transpose);
      };
    inner.op = std::make_shared<FunctionOperator<T>>(
        rows, cols, [A](Context& c, In<T> x, Out<T> y) { A->apply(c, x, y); }, options);
    inner.terms += 2;
    return inner;
  }
  Known<T> identity(Index n) {
    return {std::make_shared<Identity<T>>(n), Dense::Identity(n, n), Dense::Identity(n, n), 3};
  }
  Known<T> scaled(double s, Known<T> a) {
    return {std::make_shared<Scaled<T>>(s, a.op), s * a.exact, std::abs(s) * a.magnitude,
            a.terms + 2};
  }
  Known<T> sum(Known<T> a, Known<T> b) {
    return {std::make_shared<Sum<T>>(a.op, b.op), a.exact + b.exact, a.magnitude + b.magnitude,
            a.terms + b.terms + 1};
  }
  Known<T> product(Known<T> a, Known<T> b) {
    return {std::make_shared<Product<T>>(a.op, b.op), a.exact * b.exact, a.magnitude * b.magnitude,
            a.terms + b.terms};
  }
  Known<T> transposed(Known<T> a) {
    return {std::make_shared<Transposed<T>>(a.op), a.exact.transpose(), a.magnitude.transpose(),
            a.terms + 40};
  }
  Known<T> shifted(Known<T> a, double sigma) {
    Dense I = Dense::Identity(a.exact.rows(), a.exact.cols());
    return {std::make_shared<Shifted<T>>(a.op, sigma), a.exact + sigma * I,
            a.magnitude + std::abs(sigma) * I, a.terms + 3};
  }

  void check(Known<T> const& known) {
    SCOPED_TRACE(known.op->name());
    EXPECT_EQ(known.op->rows(), known.exact.rows());
    EXPECT_EQ(known.op->cols(), known.exact.cols());
    for (Op op : {Op::none, Op::transpose}) {
      if (op == Op::transpose && !known.op->traits().transpose) continue;
      Dense A = op == Op::none ? known.exact : Dense(known.exact.transpose());
      Dense M = op == Op::none ? known.magnitude : Dense(known.magnitude.transpose());
      for (Index k : {1, 3, 8})
        for (Layout layout : {Layout::row_major, Layout::col_major})
          for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {0.75, -1.25}, {-1.0, 1.0}, {-2.0, 0.0}})
            product_matches(*known.op, A, M, known.terms + (op == Op::transpose ? 40 : 0), op, k,
                            layout, alpha, beta);
    }
  }

 private:
  void product_matches(LinearOperator<T> const& A, Dense const& exact, Dense const& magnitude,
                       int terms, Op op, Index k, Layout layout, double alpha, double beta) {
    SCOPED_TRACE(cat("op ", int(op), ", k ", k, ", alpha ", alpha, ", beta ", beta, ", layout ",
                     int(layout)));
    auto rows = static_cast<Index>(exact.rows()), cols = static_cast<Index>(exact.cols());
    auto x = rounded<T>(random_values(cols * k, 5)), y0 = rounded<T>(random_values(rows * k, 6));
    if (beta == 0) y0.assign(y0.size(), nan);
    Guarded<T> gx(this->ctx(), cols, k, layout, 2, x), y(this->ctx(), rows, k, layout, 2, y0);
    A.apply(this->ctx(), T(alpha), gx.in(), T(beta), y.view(), op);
    auto block = [k](std::vector<double> const& v, Index n) -> Dense {
      Dense d(n, k);
      for (Index i = 0; i < n * k; ++i) d(i / k, i % k) = v[i];
      return d;
    };
    Dense X = block(x, cols), e = alpha * exact * X, m = std::abs(alpha) * magnitude * X.cwiseAbs();
    if (beta != 0) e += beta * block(y0, rows), m += std::abs(beta) * block(y0, rows).cwiseAbs();
    auto got = y.get();
    long double u = roundoff(real_of<T>);
    for (Index i = 0; i < rows * k; ++i)
      ASSERT_LE(std::abs(got[i] - e(i / k, i % k)), 1.01L * terms * u * m(i / k, i % k))
          << "row " << i / k << ": " << got[i] << ", exact " << e(i / k, i % k);
    EXPECT_TRUE(y.untouched());
    EXPECT_TRUE(gx.unchanged());
  }
};
TYPED_TEST_SUITE(CompositeContract, RealsOnBoth, Label);

TYPED_TEST(CompositeContract, EachAlone) {
  this->check(this->csr(31, 17, 1));
  this->check(this->function(31, 17, 2, true));
  this->check(this->function(31, 17, 3, false));
  this->check(this->identity(33));
  this->check(this->scaled(-2.5, this->csr(31, 17, 4)));
  this->check(this->scaled(0.1, this->csr(31, 17, 4)));
  this->check(this->sum(this->csr(31, 17, 5), this->csr(31, 17, 6)));
  this->check(this->product(this->csr(31, 17, 7), this->csr(17, 29, 8)));
  this->check(this->transposed(this->csr(31, 17, 9)));
  this->check(this->shifted(this->csr(31, 31, 10), -0.7));
}

TYPED_TEST(CompositeContract, Nested) {
  auto A = this->csr(20, 30, 11), B = this->csr(30, 20, 12), C = this->function(20, 20, 13, true);
  this->check(this->shifted(this->product(A, B), 3));                                 // A B + 3 I
  this->check(this->sum(this->product(A, B), this->scaled(-0.5, C)));                 // A B - C / 2
  this->check(this->transposed(this->product(A, B)));                                 // (A B)^T
  this->check(this->product(this->transposed(A), A));                                 // A^T A
  this->check(this->transposed(this->transposed(A)));                                 // A
  this->check(this->product(this->product(A, B), this->sum(C, this->identity(20))));  // A B (C + I)
  this->check(
      this->scaled(2, this->shifted(this->transposed(this->sum(C, this->product(A, B))), -1)));
  this->check(this->sum(this->identity(20), this->scaled(-1, this->identity(20))));  // 0
}

TYPED_TEST(CompositeContract, EmptyOnes) {
  this->check(this->product(this->csr(4, 0, 1), this->csr(0, 5, 1)));  // 4 x 5 zeros
  this->check(this->sum(this->csr(0, 3, 1), this->csr(0, 3, 1)));
  this->check(this->shifted(this->csr(0, 0, 1), 1));
  this->check(this->identity(0));
}

TYPED_TEST(CompositeContract, FusedFormsOfComposites) {
  using T = typename TestFixture::T;
  auto A = this->shifted(this->product(this->csr(60, 40, 1), this->csr(40, 60, 2)), 0.5);
  auto x = rounded<T>(random_values(60, 3));
  Guarded<T> gx(this->ctx(), x), y(this->ctx(), std::vector<double>(60, nan)),
      again(this->ctx(), std::vector<double>(60, nan));
  There<double> sigma(this->ctx(), nan);
  A.op->apply_dot(this->ctx(), gx.in(), y.view(), sigma.data());
  A.op->apply(this->ctx(), gx.in(), again.view());
  EXPECT_EQ(y.get(), again.get());
  long double exact = 0, magnitude = 0;
  for (Index i = 0; i < 60; ++i)
    exact += static_cast<long double>(x[i]) * y.get()[i], magnitude += std::abs(x[i] * y.get()[i]);
  EXPECT_LE(std::abs(sigma.get() - exact), sum_bound(60, magnitude));
}

/// An operator whose fused forms are its own.
class Fused final : public LinearOperator<double> {
 public:
  explicit Fused(Index n) : LinearOperator(n, n) {}
  Traits traits() const override { return {}; }
  Cost cost(Index) const override { return {}; }
  std::string name() const override { return "fused"; }

 private:
  void do_apply(Context&, double, In<double>, double, Out<double>, Op) const override {
    ADD_FAILURE() << "not fused";
  }
  void do_apply_gram(Context& ctx, double alpha, In<double>, Out<double>,
                     double* G) const override {
    fill(ctx, vector_view(G, 1, ctx.space()), alpha);
  }
};

TEST(CompositeContractHost, ScaledPassesTheFusedFormOn) {
  Context ctx(Backend::host);
  Scaled<double> const A(-0.5, std::make_shared<Fused>(3));
  std::vector<double> X(6, 1), Y(6);
  double G = nan;
  auto const block = [](std::vector<double>& v) {
    return Out<double>{v.data(), 3, 2, 2, Layout::row_major, Space::host};
  };
  A.apply_gram(ctx, 3, block(X), block(Y), &G);
  EXPECT_EQ(G, -1.5);
}

TYPED_TEST(CompositeContract, TraitsAreThoseOfTheWeakestPart) {
  auto A = this->csr(8, 8, 1), f = this->function(8, 8, 2, false);
  for (auto const& both :
       {this->sum(A, f), this->sum(f, A), this->product(A, f), this->product(f, A)}) {
    EXPECT_FALSE(both.op->traits().transpose);
    EXPECT_FALSE(both.op->traits().capturable);
    EXPECT_FALSE(both.op->traits().isolates_nonfinite);
    EXPECT_TRUE(both.op->traits().fixed);
  }
  EXPECT_TRUE(this->sum(A, A).op->traits().transpose);
  EXPECT_TRUE(this->product(A, A).op->traits().capturable);
  auto list = this->ctx().record([&](Context& c) {
    Guarded<typename TestFixture::T> x(c, std::vector<double>(8, 1)),
        y(c, std::vector<double>(8, 1));
    this->scaled(2, f).op->apply(c, x.in(), y.view());
  });
  EXPECT_FALSE(list.capturable());
}

TYPED_TEST(CompositeContract, MismatchesNameBothParts) {
  auto A = this->csr(3, 4, 1), B = this->csr(5, 6, 2), f = this->function(3, 4, 3, false);
  auto expect = [](std::string const& text, std::vector<std::string> const& words) {
    for (auto const& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << text << " lacks " << word;
  };
  expect(message_of<ShapeError>([&] { this->sum(A, B); }), {"sum", "3 x 4", "5 x 6"});
  expect(message_of<ShapeError>([&] { this->product(A, B); }), {"product", "3 x 4", "5 x 6"});
  expect(message_of<ShapeError>([&] { this->shifted(A, 1); }), {"shifted", "3 x 4", "square"});
  expect(message_of<Unsupported>([&] { this->transposed(f); }), {"function", "transpose"});
}

TYPED_TEST(CompositeContract, WhatACallableThrowsReachesTheCaller) {
  using T = typename TestFixture::T;
  FunctionOperator<T> A(2, 2, [](Context&, In<T>, Out<T>) { throw std::domain_error("mine"); });
  Guarded<T> x(this->ctx(), {1, 1}), y(this->ctx(), {1, 1});
  EXPECT_EQ(message_of<std::domain_error>([&] { A.apply(this->ctx(), x.in(), y.view()); }), "mine");
  EXPECT_THROW(A.apply(this->ctx(), T(1), x.in(), T(0), y.view(), Op::transpose), Unsupported);
}

}  // namespace
}  // namespace tcsolve::test
