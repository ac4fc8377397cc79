// SPDX-License-Identifier: Apache-2.0
/// Extreme eigenvalues by a few steps of conjugate gradients, against dense algebra; and diagonals,
/// whose products are factors of other passes, against the same as operators.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/spectrum.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

/// An operator of which nothing is known but its products.
class Hidden final : public LinearOperator<double> {
 public:
  explicit Hidden(OperatorPtr<double> A)
      : LinearOperator<double>(A->rows(), A->cols()), A_(std::move(A)) {}
  Traits traits() const override { return A_->traits(); }
  Cost cost(Index k) const override { return A_->cost(k); }
  std::string name() const override { return "hidden"; }
  int applied() const { return applied_; }

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    ++applied_;
    A_->apply(ctx, alpha, x, beta, y, op);
  }
  OperatorPtr<double> A_;
  mutable int applied_ = 0;
};

/// A diagonal that is never to be applied.
class Unapplied final : public LinearOperator<double> {
 public:
  explicit Unapplied(OperatorPtr<double> D)
      : LinearOperator<double>(D->rows(), D->cols()), D_(std::move(D)) {}
  Traits traits() const override { return D_->traits(); }
  Cost cost(Index k) const override { return D_->cost(k); }
  std::string name() const override { return "unapplied"; }
  std::optional<Diagonal<double>> diagonal() const override { return D_->diagonal(); }

 private:
  void do_apply(Context&, double, In<double>, double, Out<double>, Op) const override {
    ADD_FAILURE() << "a diagonal is applied";
  }
  OperatorPtr<double> D_;
};

Csr<double> grid(Index n) {
  return generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
}
Csr<double> diagonal_of(std::vector<double> const& d) {
  std::set<std::pair<Index, Index>> entries;
  for (Index i = 0; i < Index(d.size()); ++i) entries.emplace(i, i);
  Csr<double> a = with_entries(Index(d.size()), entries);
  a.values = d;
  return a;
}

class Spectra : public OnEachBackend {
 protected:
  OperatorPtr<double> matrix(Csr<double> const& a) {
    return std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
  }
  OperatorPtr<double> jacobi(Csr<double> const& a) {
    return std::make_shared<Jacobi<double>>(ctx(), matrix_(a).view());
  }
  OperatorPtr<double> identity(Index n) { return std::make_shared<Identity<double>>(n); }
  Spectrum of(LinearOperator<double> const& A, LinearOperator<double> const& M, int steps,
              Indefinite indefinite = Indefinite::refuse) {
    return estimate_spectrum(ctx(), A, M, steps, "test", indefinite);
  }

 private:
  CsrStorage<double> const& matrix_(Csr<double> const& a) {
    return *(kept_ = std::make_unique<CsrStorage<double>>(ctx(), a.view()));
  }
  std::unique_ptr<CsrStorage<double>> kept_;
};
TCSOLVE_ON_EACH_BACKEND(Spectra);

TEST_P(Spectra, OfADiagonalAreThoseOfTheOperator) {
  Csr<double> const a =
      grid(18);  // more rows than a chunk of the host has, and a block of a device
  auto const A = matrix(a), D = jacobi(a);
  for (OperatorPtr<double> const& M :
       {D, identity(a.rows), OperatorPtr<double>(std::make_shared<Scaled<double>>(0.25, D))}) {
    Hidden const hidden(M);
    Unapplied const unapplied(M);
    for (int const steps : {1, 2, 3, 10}) {
      SCOPED_TRACE(steps);
      Spectrum const wanted = of(*A, hidden, steps), got = of(*A, unapplied, steps);
      EXPECT_NEAR(got.largest, wanted.largest, 1e-12 * wanted.largest);
      EXPECT_NEAR(got.smallest, wanted.smallest, 1e-11 * wanted.largest);
    }
    EXPECT_EQ(hidden.applied(), 1 + 2 + 3 + 10);
  }
}

TEST_P(Spectra, AreExactAfterAllSteps) {
  Csr<double> const a = grid(3);
  Eigen::MatrixXd const A = dense_rows(a);
  Eigen::VectorXd const half = A.diagonal().cwiseSqrt().cwiseInverse();
  Eigen::VectorXd const exact =
      symmetric_eigenvalues(half.asDiagonal() * A * half.asDiagonal());  // ascending
  double before = 0;
  for (int const steps : {1, 2, 4, 8, 27}) {
    Spectrum const s = of(*matrix(a), *jacobi(a), steps);
    EXPECT_GT(s.largest, before);
    EXPECT_LE(s.largest, exact.maxCoeff() * (1 + 1e-10));
    EXPECT_GE(s.smallest, exact.minCoeff() * (1 - 1e-10));
    before = s.largest;
    if (steps < a.rows) continue;
    EXPECT_NEAR(s.largest, exact.maxCoeff(), 1e-8);
    EXPECT_NEAR(s.smallest, exact.minCoeff(), 1e-8);
  }
}

TEST_P(Spectra, EndWhereTheSpaceIsExhausted) {
  std::vector<double> d(300);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = i % 2 == 0 ? 1 : 3;
  auto const A = matrix(diagonal_of(d)), I = identity(300);
  for (OperatorPtr<double> const& M : {I, OperatorPtr<double>(std::make_shared<Hidden>(I))}) {
    Spectrum const s = of(*A, *M, 10);
    EXPECT_NEAR(s.smallest, 1, 1e-12);
    EXPECT_NEAR(s.largest, 3, 1e-12);
  }
  Spectrum const one = of(*A, *jacobi(diagonal_of(d)), 10);
  EXPECT_NEAR(one.smallest, 1, 1e-14);
  EXPECT_NEAR(one.largest, 1, 1e-14);
}

/// Half of the steps are taken where a tenth more than their estimate reaches the bound; where a
/// tenth more than that of all does, the bound is taken too.
TEST_P(Spectra, EndAtABoundThatIsNear) {
  Csr<double> const a = grid(18);
  auto const D = jacobi(a);
  double const half = of(*matrix(a), *D, 5).largest, all = of(*matrix(a), *D, 10).largest;
  ASSERT_GT(all, 1.01 * half);
  struct Case {
    double bound, largest;
    int steps;
  };
  for (auto const& [bound, largest, steps] :
       {Case{1.099 * half, 1.099 * half / 1.1, 5}, Case{1.101 * half, 1.101 * half / 1.1, 10},
        Case{1.101 * all, all, 10}}) {
    Hidden const A(matrix(a));
    EXPECT_EQ(estimate_spectrum(ctx(), A, *D, 10, "test", Indefinite::refuse, bound).largest,
              largest);
    EXPECT_EQ(A.applied(), steps);
  }
}

TEST_P(Spectra, OfWhatIsIndefiniteAreRefusedOrIgnored) {
  // Of the first step already: of a random vector the negative ones weigh more.
  std::vector<double> A(300, 2), D(300, 2), ones(300, 1);
  for (std::size_t i = 0; i < A.size(); i += 2) A[i] = -3, D[i] = -0.3;
  auto const indefinite = matrix(diagonal_of(A)), definite = matrix(diagonal_of(ones));
  for (bool const folded : {true, false}) {
    auto const as = [&](OperatorPtr<double> B) {
      return folded ? B : OperatorPtr<double>(std::make_shared<Hidden>(B));
    };
    auto const I = as(identity(300)), M = as(jacobi(diagonal_of(D)));
    EXPECT_THAT(message_of<SetupError>([&] { of(*indefinite, *I, 10); }),
                HasSubstr("test: the operator is not positive definite"));
    EXPECT_THAT(message_of<SetupError>([&] { of(*definite, *M, 10); }),
                HasSubstr("test: the inner preconditioner is not positive definite"));
    Spectrum const s = of(*indefinite, *I, 10, Indefinite::ignore);
    EXPECT_EQ(s.smallest, 1);
    EXPECT_EQ(s.largest, 1);
  }
}

}  // namespace
}  // namespace tcsolve::test
