// SPDX-License-Identifier: Apache-2.0
/// A matrix gets new values between solves: update_values(), then setup() of the solver, and the
/// next solve is one of the new system, with the old preconditioner or a new one.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

class UpdatedSystem : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(UpdatedSystem);

constexpr Index n = 120;

/// Symmetric positive definite, five diagonals; the values go with the time and in scale with
/// `size`. The same pattern always.
Matrix at_time(double time, double size = 1) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = 4 + std::sin(time + i) + 0.1 * time;
    if (i + 1 < n) a(i, i + 1) = a(i + 1, i) = -1 - 0.3 * std::cos(time * i);
    if (i + 9 < n) a(i, i + 9) = a(i + 9, i) = -0.4 - 0.1 * std::sin(time - i);
  }
  return size * a;
}

template <class S = double>
std::vector<std::shared_ptr<LinearOperator<double>>> operators(Context& ctx, Matrix const& a) {
  CsrStorage<S> const stored(ctx, converted<S>(csr(a)));
  auto all = in_every_format<double, S>(ctx, stored.view());
  EXPECT_EQ(all.size(), tested_formats().size());
  all.front() = std::make_shared<CsrOperator<double, S>>(ctx, stored.view());  // its own copy
  return all;
}

TEST_P(UpdatedSystem, IsSolvedAfterSetup) {
  for (auto const& A : operators(ctx(), at_time(0))) {
    for (std::string const& method : methods()) {
      if (method == "lsmr" && !A->traits().transpose) continue;
      SCOPED_TRACE(cat(A->name(), ", ", method));
      auto solver = make_solver(method, {.rtol = 1e-9, .max_iters = 2000}, execution());
      A->update_values(ctx(), csr(at_time(0)).view());
      OperatorPtr<double> M;
      if (method != "lsmr") {
        Csr<double> first = csr(at_time(0));
        CsrStorage<double> there(ctx(), first.view());
        M = std::make_shared<Jacobi<double>>(ctx(), there.view());
      }
      Column b = random_column(n, 1), x = Column::Zero(n);
      solver->setup(ctx(), A, M);
      ASSERT_TRUE(solve(*solver, b, x).converged());
      // Another day, another scale: 1e90 is where setup() scales the operator.
      for (auto [time, size] : {std::pair{1.0, 1.0}, {2.0, 1e90}, {3.0, 1e-6}, {4.0, 1.0}}) {
        SCOPED_TRACE(time);
        Matrix now = at_time(time, size);
        Csr<double> values = csr(now);
        CsrStorage<double> there(ctx(), values.view());
        A->update_values(ctx(), there.view());
        for (bool renewed : {false, true}) {
          if (renewed && !M) continue;
          if (renewed) M = std::make_shared<Jacobi<double>>(ctx(), there.view());
          solver->setup(ctx(), A, M);
          x.setZero();
          SolveReport report = solve(*solver, b, x);
          EXPECT_TRUE(report.converged()) << report.message;
          long double r = exact_norm(exact_residual(now, b, x));
          EXPECT_LE(r, 1e-9 * b.norm() + residual_error(now, b, x));
          EXPECT_NEAR(double(r), report.true_residual, double(residual_error(now, b, x)));
          EXPECT_GT((b - at_time(0) * x).norm(), 1e-3 * b.norm()) << "the old system's solution";
        }
      }
    }
  }
}

/// A format may store half of a symmetric matrix. Where the new values are symmetric no longer,
/// what was recorded is recorded anew with all of them.
TEST_P(UpdatedSystem, IsSolvedWhenItsSymmetryIsLost) {
  Column b = random_column(n, 3);
  for (bool const within : {false, true}) {  // a callable
    std::string const method = within ? "bicgstab" : "gmres";
    SCOPED_TRACE(method);
    for (auto const& A : operators(ctx(), at_time(0))) {
      SCOPED_TRACE(A->name());
      OperatorPtr<double> const applied = std::make_shared<FunctionOperator<double>>(
          n, n, [A](Context& c, In<double> x, Out<double> y) { A->apply(c, x, y); },
          FunctionOperator<double>::Options{.capturable = true,
                                            .revision = [A] { return A->revision(); }});
      auto solver = make_solver(method, {.rtol = 1e-9, .max_iters = 2000}, execution());
      if (within)
        solver->setup(ctx(), applied);
      else
        solver->setup(ctx(), A);
      Column x = Column::Zero(n);
      ASSERT_TRUE(solve(*solver, b, x).converged());
      Matrix now = at_time(0);
      for (Index i = 0; i + 1 < n; ++i) now(i, i + 1) *= 0.25;
      A->update_values(ctx(), csr(now).view());
      x.setZero();
      SolveReport const report = solve(*solver, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(exact_norm(exact_residual(now, b, x)), 1e-9 * b.norm() + residual_error(now, b, x));
    }
  }
}

/// A rounded copy beside the FP64 matrix: both follow, and `converged` speaks of the new FP64 one.
TEST_P(UpdatedSystem, IsSolvedWithARoundedCopy) {
  auto exact = operators(ctx(), at_time(0));
  auto rounded = operators<half>(ctx(), at_time(0));
  Column b = random_column(n, 2);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    SCOPED_TRACE(exact[i]->name());
    auto solver = make_solver("cg", {.rtol = 1e-10, .max_iters = 2000}, execution());
    for (double time : {0.0, 1.5, 3.0}) {
      Matrix now = at_time(time);
      Csr<double> values = csr(now);
      exact[i]->update_values(ctx(), values.view());
      rounded[i]->update_values(ctx(), values.view());
      solver->setup(ctx(), rounded[i], nullptr, exact[i]);
      Column x = Column::Zero(n);
      EXPECT_TRUE(solve(*solver, b, x).converged());
      EXPECT_LE((b - now * x).norm(), 1.0001e-10 * b.norm());
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
