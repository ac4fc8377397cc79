// SPDX-License-Identifier: Apache-2.0
/// Solvers as preconditioners: the time limit and the cancel flag of the solve around them reach
/// them, and what they say and refuse.
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/solver_operator.hpp>

#include <tests/support/backend.hpp>
#include <tests/verdicts/inner_solvers.hpp>

namespace tcsolve::test {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class InnerSolvers : public InEveryPlace {
 protected:
  /// The pentadiagonal square of tridiag(-1, 2, -1): conditioned so badly that conjugate gradients
  /// take minutes.
  OperatorPtr<double> endless(Index n = 3000) {
    Csr<double> a{n, n, {0}, {}, {}};
    double const row[] = {1, -4, 6, -4, 1};
    for (Index i = 0; i < n; ++i) {
      for (Index j = std::max(i - 2, 0); j <= std::min(i + 2, n - 1); ++j) {
        a.columns.push_back(j);
        a.values.push_back(row[j - i + 2] - (i == j && (i == 0 || i == n - 1) ? 1 : 0));
      }
      a.offsets.push_back(a.entries());
    }
    return std::make_shared<CsrOperator<double>>(ctx(), a);
  }
  static StoppingParams forever() {
    return {.rtol = 1e-12, .max_iters = 2000000000, .stagnation_window = 0};
  }
  std::shared_ptr<Solver> inner_cg(StoppingParams const& stopping) {
    return make_solver("cg", stopping, execution());
  }
};
TCSOLVE_IN_EVERY_PLACE(InnerSolvers);

constexpr char const* outer_methods =
    "fgmres gmres gmres_left cg chronopoulos_gear pipelined_cg minres bicgstab";

/// Counts the steps of the solver `name`.
struct Counter : Observer {
  std::string name = "cg";
  std::atomic<int> steps{0};
  void on(IterationEvent const& e) override { steps += e.solver == name; }
};

TEST_P(InnerSolvers, AreCancelledWithTheSolveAroundThem) {
  auto const A = endless();
  auto const M = wrapped(ctx(), inner_cg(forever()), A);
  Index const n = A->rows();
  for (std::string const& method : methods(outer_methods)) {
    SCOPED_TRACE(method);
    auto outer = make_solver(method, {}, execution());
    outer->setup(ctx(), A, M);
    Counter inner;
    inner.name = "cg";
    ctx().attach(&inner);
    std::atomic<bool> over{false};
    std::thread other([&] {
      // The first event may come from the outer cg, which cannot have made 20 steps.
      while (inner.steps < 20 && !over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ctx().cancel();
    });
    Column b = Column::Ones(n), x = Column::Constant(n, 0.5);
    auto const start = std::chrono::steady_clock::now();
    SolveReport const report = solve(*outer, b, x);
    double const took = seconds_since(start);
    over = true;
    other.join();
    ctx().detach(&inner);
    ctx().clear_cancel();
    EXPECT_EQ(report.reason, Stop::cancelled) << report.message;
    EXPECT_EQ(exit_code(report.reason), 3);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_TRUE(x == Column::Constant(n, 0.5)) << "nothing was reached";
    EXPECT_GE(inner.steps, 20);
    EXPECT_LT(took, 20) << "the inner solve did not hear of it";
    EXPECT_EQ(ctx().loop(), nullptr);
  }
}

/// The cancel flag is raised in the third application, which a callable hides.
TEST_P(InnerSolvers, LeaveWhatWasReachedBeforeTheyWereCancelled) {
  Index const n = 100;
  auto const A = matrix(ctx(), laplace(n));
  Column const b = random_column(n, 17);
  SolveReport two_steps;
  for (bool cancels : {false, true}) {
    auto const inner = wrapped(ctx(), inner_cg({.rtol = 0.1, .max_iters = 5}), A);
    int applications = 0;
    auto const M = std::make_shared<FunctionOperator<double>>(
        n, n,
        [&](Context& c, In<double> x, Out<double> y) {
          if (cancels && ++applications == 3) c.cancel();
          inner->apply(c, x, y);
        },
        FunctionOperator<double>::Options{.fixed = false, .norm_estimate = 0.25});
    auto outer = make_solver("fgmres", {.max_iters = cancels ? 100 : 2}, execution());
    outer->setup(ctx(), A, M);
    Column x = Column::Zero(n);
    SolveReport const report = solve(*outer, b, x);
    ctx().clear_cancel();
    EXPECT_EQ(report.reason, cancels ? Stop::cancelled : Stop::max_iterations) << report.message;
    EXPECT_EQ(report.iterations, 2);
    EXPECT_LT(report.true_residual, report.initial_residual);
    if (cancels) { EXPECT_EQ(report.true_residual, two_steps.true_residual); }
    two_steps = report;
  }
}

TEST_P(InnerSolvers, EndWithTheTimeLimitOfTheSolveAroundThem) {
  auto const A = endless();
  auto const M = wrapped(ctx(), inner_cg(forever()), A);
  Index const n = A->rows();
  for (std::string const& method : methods(outer_methods)) {
    SCOPED_TRACE(method);
    auto outer = make_solver(method, {.time_limit = 0.05}, execution());
    outer->setup(ctx(), A, M);
    Column b = Column::Ones(n), x = Column::Zero(n);
    SolveReport const report = solve(*outer, b, x);
    EXPECT_EQ(report.reason, Stop::time_limit) << report.message;
    EXPECT_EQ(exit_code(report.reason), 3);
    EXPECT_GE(report.seconds, 0.05);
    EXPECT_LT(report.seconds, 5) << "the inner solve went on";
    EXPECT_TRUE(x.allFinite());
  }
}

TEST_P(InnerSolvers, HearTheLimitThroughASolverBetween) {
  auto const A = endless();
  auto const deepest = wrapped(ctx(), inner_cg(forever()), A);
  auto const between = wrapped(ctx(), make_solver("fgmres", {.max_iters = 1000}, execution()), A,
                               std::make_shared<Scaled<double>>(1.0, deepest));
  auto outer = make_solver("fgmres", {.time_limit = 0.05}, execution());
  outer->setup(ctx(), A, between);
  Column b = Column::Ones(A->rows()), x = Column::Zero(A->rows());
  SolveReport const report = solve(*outer, b, x);
  EXPECT_EQ(report.reason, Stop::time_limit) << report.message;
  EXPECT_LT(report.seconds, 5);
}

TEST_P(InnerSolvers, KeepTheirOwnTimeLimit) {
  auto const A = endless();
  Index const n = A->rows();
  StoppingParams own = forever();
  own.time_limit = 0.02;
  auto outer = make_solver("fgmres", {.rtol = 1e-30, .max_iters = 3}, execution());
  outer->setup(ctx(), A, wrapped(ctx(), inner_cg(own), A));
  Column b = Column::Ones(n), x = Column::Zero(n);
  SolveReport const report = solve(*outer, b, x);
  EXPECT_EQ(report.reason, Stop::max_iterations) << report.message;
  EXPECT_EQ(report.iterations, 3) << "the limit of an inner solver is not the outer's";
  EXPECT_GE(report.seconds, 3 * 0.02);
  EXPECT_LT(report.seconds, 5);
  EXPECT_LT(report.true_residual, report.initial_residual);
}

TEST_P(InnerSolvers, AreNamedWithTheirOutcome) {
  for (std::string const& method : methods("fgmres gmres minres bicgstab cg gmres_left")) {
    SCOPED_TRACE(method);
    Column x;
    SolveReport const report =
        run(ctx(), inner(-laplace(30), "cg", {.max_iters = 10}), x, method, {}, execution(), 30);
    EXPECT_EQ(report.outcome(), "breakdown:inner_solver");
    EXPECT_EQ(exit_code(report.reason), 4);
    EXPECT_NE(report.message.find("the inner solver cg gave zero: indefinite_operator after 0"),
              std::string::npos)
        << report.message;
    EXPECT_EQ(report.message.find("lsmr"), std::string::npos) << report.message;
  }
}

TEST_P(InnerSolvers, AFailureOfTheInnermostIsPassedOn) {
  Matrix const A = -laplace(30);
  auto const here = matrix(ctx(), A);
  auto const cg = wrapped(ctx(), inner_cg({.max_iters = 5}), here);
  auto outer = make_solver("fgmres", {}, execution());
  outer->setup(ctx(), here,
               wrapped(ctx(), make_solver("fgmres", {.max_iters = 4}, execution()), here, cg));
  Column b = Column::Ones(30), x = Column::Zero(30);
  SolveReport const report = solve(*outer, b, x);
  EXPECT_EQ(report.outcome(), "breakdown:inner_solver");
  for (char const* part : {"the inner solver fgmres gave zero: breakdown:inner_solver",
                           "the inner solver cg gave zero: indefinite_operator"})
    EXPECT_NE(report.message.find(part), std::string::npos) << report.message;
}

/// An inner solver of any length is a preconditioner, not only one that converges.
TEST_P(InnerSolvers, MayTakeAsFewStepsAsTheyLike) {
  Csr<double> const a = generate(Poisson7Params{.n = 10});
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), a);
  Index const n = a.rows;
  for (std::string const& method : methods("cg bicgstab"))
    for (int steps = 1; steps <= 40; ++steps) {
      SCOPED_TRACE(cat(steps, " of ", method));
      auto outer = make_solver("fgmres", {}, execution());
      outer->setup(
          ctx(), A,
          wrapped(ctx(), make_solver(method, {.rtol = 0.1, .max_iters = steps}, execution()), A,
                  std::make_shared<Jacobi<double>>(ctx(), A->view())));
      Column b = Column::Ones(n), x = Column::Zero(n);
      SolveReport const report = solve(*outer, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_LE(report.iterations, 40);
    }
}

/// approximate() hands back what the steps made, though its residual is larger than that of zero.
TEST_P(InnerSolvers, HandBackTheLastIterate) {
  Matrix const A = laplace(100);
  Column const b = Column::Ones(100);
  There<double> there(ctx(), std::vector<double>(100, 1)), x(ctx(), std::vector<double>(100, nan));
  for (int steps : {1, 2, 7, 20}) {
    SCOPED_TRACE(steps);
    auto cg = make_solver("cg", {.rtol = 0, .max_iters = steps}, execution());
    cg->setup(ctx(), matrix(ctx(), A));
    SolveReport const report = cg->approximate(there.in(), x.view());
    EXPECT_EQ(report.reason, Stop::max_iterations);
    EXPECT_EQ(report.iterations, steps);
    EXPECT_TRUE(std::isnan(report.true_residual)) << "nobody looked";
    // The textbook's iterate.
    Column xi = Column::Zero(100), r = b, p = b;
    for (int k = 0; k < steps; ++k) {
      double const rr = r.squaredNorm(), alpha = rr / p.dot(A * p);
      xi += alpha * p;
      r -= alpha * (A * p);
      p = r + r.squaredNorm() / rr * p;
    }
    auto const got = x.all();
    EXPECT_LE((Eigen::Map<Column const>(got.data(), 100) - xi).norm(), 1e-9 * xi.norm());
    EXPECT_GT((b - A * xi).norm(), b.norm()) << "or this tests nothing";
  }
}

TEST_P(InnerSolvers, RefuseWhatTheyCannotTake) {
  auto cg = make_solver("cg", {}, execution());
  There<double> b(ctx(), std::vector<double>(4, 1)), x(ctx(), std::vector<double>(4, 0)),
      five(ctx(), std::vector<double>(5, 1));
  EXPECT_THROW(cg->approximate(b.in(), x.view()), ShapeError) << "before setup";
  cg->setup(ctx(), matrix(ctx(), laplace(4)));
  EXPECT_THROW(cg->approximate(five.in(), x.view()), ShapeError);
  EXPECT_THROW(cg->approximate(b.in(), b.view()), ShapeError);
  There<double> zero(ctx(), std::vector<double>(4, 0)), bad(ctx(), std::vector<double>(4, nan));
  EXPECT_EQ(cg->approximate(zero.in(), x.view()).cause, Cause::zero_rhs);
  EXPECT_EQ(x.all(), std::vector<double>(4, 0));
  EXPECT_EQ(cg->approximate(bad.in(), x.view()).cause, Cause::rhs);
  EXPECT_TRUE(std::isnan(x.get()));
  EXPECT_TRUE(cg->approximate(b.in(), x.view()).converged()) << "usable after the refusals";
}

/// The same preconditioner over the same matrix takes as many iterations whatever the format: its
/// scratch is nobody else's.
TEST_P(InnerSolvers, UnderChebyshevTakeAsManyIterationsInEveryFormat) {
  Registries const registries;
  Csr<double> const a = generate(Poisson27Params{.n = 10});
  auto const csr = std::make_shared<CsrOperator<double>>(ctx(), a);
  auto made = [&](auto const& registry, std::string const& text) {
    Diagnostics problems;
    auto product = registry.make(parse_yaml(text, "test"), problems, registries.catalog);
    problems.throw_if_any();
    return product;
  };
  Column const b = random_column(a.rows, 12);
  for (std::string const text :
       {"{type: chebyshev, preconditioner: {type: solver, solver: {type: gmres, max_iters: 6}}}",
        "{type: chebyshev, preconditioner: {type: solver, solver: {type: cg, max_iters: 8}}}"}) {
    SCOPED_TRACE(text);
    Index expected = 0;
    for (std::string const& format : registries.operators.names()) {
      SCOPED_TRACE(format);
      auto const A = made(registries.operators, "{format: " + format + "}")->build(ctx(), a);
      auto outer = make_solver("fgmres", {}, execution());
      outer->setup(ctx(), A,
                   made(registries.preconditioners, text)->build(ctx(), {csr->view(), A})->view());
      Column x = Column::Zero(a.rows);
      SolveReport const report = solve(*outer, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      if (expected == 0) expected = report.iterations;
      EXPECT_LE(std::abs(report.iterations - expected), 1);
      EXPECT_LE(report.iterations, 30);
    }
  }
}

TEST_P(InnerSolvers, OfAConfigNeedAnIteration) {
  Registries const registries;
  auto problems_of = [&](std::string const& text) {
    Diagnostics problems;
    registries.preconditioners.make(parse_yaml(text, "my.yaml"), problems, registries.catalog);
    return problems.text();
  };
  std::string const refused = problems_of("{type: solver, solver: {type: cg, max_iters: 0}}");
  EXPECT_NE(refused.find("my.yaml:1:1: an inner solver with 'max_iters' = 0"), std::string::npos)
      << refused;
  EXPECT_EQ(problems_of("{type: solver, solver: {type: cg, max_iters: 1, rtol: 1}}"), "");
}

// ---- Chebyshev ----

TEST_P(InnerSolvers, ChebyshevDoesNotSeeTheScaleOfA) {
  Index const n = 30;
  for (bool jacobi : {false, true}) {
    SCOPED_TRACE(jacobi ? "jacobi" : "none");
    Column expected;
    Index iterations = 0;
    double largest = 0;
    for (int k : {0, -900, -700, -333, -100, -1, 1, 98, 100, 334, 700, 899, 900}) {
      SCOPED_TRACE(k);
      auto const A = std::make_shared<CsrOperator<double>>(
          ctx(), csr(Matrix(std::ldexp(1.0, k) * laplace(n))));
      OperatorPtr<double> M = std::make_shared<Identity<double>>(n);
      if (jacobi) M = std::make_shared<Jacobi<double>>(ctx(), A->view());
      auto const chebyshev = std::make_shared<Chebyshev>(ctx(), A, M);
      auto cg = make_solver("cg", {}, execution());
      cg->setup(ctx(), A, chebyshev);
      Column b = Column::Ones(n), x = Column::Zero(n);
      SolveReport const report = solve(*cg, b, x);
      EXPECT_TRUE(report.converged()) << report.message;
      if (k == 0) {
        expected = x;
        iterations = report.iterations;
        largest = chebyshev->lambda_max();
        continue;
      }
      EXPECT_EQ(report.iterations, iterations);
      EXPECT_EQ(chebyshev->lambda_max(), std::ldexp(largest, jacobi ? 0 : k));
      for (Index i = 0; i < n; ++i) ASSERT_EQ(x[i], std::ldexp(expected[i], -k)) << i;
    }
  }
}

TEST_P(InnerSolvers, ChebyshevRefusesEigenvaluesBeyondFP64) {
  auto const tiny = matrix(ctx(), Matrix(std::ldexp(1.0, -1060) * laplace(30)));
  std::string const said = message_of<SetupError>(
      [&] { Chebyshev(ctx(), tiny, std::make_shared<Identity<double>>(30)); });
  EXPECT_NE(said.find("scale the system"), std::string::npos) << said;
}

TEST_P(InnerSolvers, ChebyshevOfDegreeOneDividesByNoProducts) {
  /// Wants to be told at once, always.
  struct Impatient final : LinearOperator<double> {
    using LinearOperator<double>::LinearOperator;
    Traits traits() const override { return {}; }
    Cost cost(Index) const override { return {}; }
    std::string name() const override { return "impatient"; }
    double advance(Context&, double applications) const override {
      told += applications;
      return 0;
    }
    mutable double told = 0;

   private:
    void do_apply(Context& c, double alpha, In<double> x, double beta, Out<double> y,
                  Op) const override {
      axpby<double, double>(c, alpha, x, beta, y);
    }
  };
  auto const A = std::make_shared<Impatient>(5, 5);
  auto const I = std::make_shared<Identity<double>>(5);
  Chebyshev const once(ctx(), A, I, {.degree = 1}), twice(ctx(), A, I, {.degree = 2});
  EXPECT_EQ(once.advance(ctx(), 3), std::numeric_limits<double>::infinity());
  EXPECT_EQ(A->told, 0);
  EXPECT_EQ(twice.advance(ctx(), 3), 0);
  EXPECT_EQ(A->told, 3);
}

}  // namespace

}  // namespace tcsolve::test
