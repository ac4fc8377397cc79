// SPDX-License-Identifier: Apache-2.0
/// Solvers as preconditioners: how few steps they may take, what is said where they have nothing to
/// give, and that the time limit and the cancel flag of the solve around them reach them.
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
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// `solver` set up for A, as an operator.
OperatorPtr<double> wrapped(Context& ctx, std::shared_ptr<Solver> solver, OperatorPtr<double> A,
                            OperatorPtr<double> M = nullptr) {
  solver->setup(ctx, A, std::move(M));
  return std::make_shared<SolverOperator>(std::move(solver), A->rows(), A->norm_estimate());
}

/// A x = b, b = (1, ..., 1), with an inner solver for M.
Problem inner(Matrix const& A, std::string const& method, StoppingParams const& stopping,
              int restart = 30) {
  Problem p{A, Column::Ones(A.rows())};
  p.M = [=](Context& ctx) {
    return wrapped(ctx, make_solver(method, stopping, Execution::automatic, restart),
                   matrix(ctx, A));
  };
  return p;
}

/// [0 1; 1 0] n / 2 times: <b, A b> = 0 for b = e_1.
Problem exchange(std::string const& method, int steps) {
  Matrix A = Matrix::Zero(2, 2);
  A(0, 1) = A(1, 0) = 1;
  Problem p = inner(A, method, {.max_iters = steps});
  p.b = Column::Unit(2, 0);
  return p;
}

/// The inner preconditioner returns NaN.
Problem poisoned() {
  Problem p{laplace(20), Column::Ones(20)};
  p.M = [A = p.A](Context& ctx) {
    auto poison = std::make_shared<FunctionOperator<double>>(
        20, 20, [](Context& c, In<double>, Out<double> y) { fill(c, y, nan); },
        FunctionOperator<double>::Options{.name = "poison"});
    return wrapped(ctx, make_solver("cg", {.max_iters = 5}), matrix(ctx, A), poison);
  };
  return p;
}

/// cg over fgmres over cg: three solves, each inside the next.
Problem two_deep() {
  Problem p{laplace(60), Column::Ones(60)};
  p.M = [A = p.A](Context& ctx) {
    auto cg = wrapped(ctx, make_solver("cg", {.rtol = 0.1, .max_iters = 3}), matrix(ctx, A));
    return wrapped(ctx,
                   make_solver("fgmres", {.rtol = 1e-3, .max_iters = 8}, Execution::automatic, 4),
                   matrix(ctx, A), cg);
  };
  return p;
}

/// chebyshev over an inner solver, of 2^exponent A.
Problem chebyshev_over_cg(int exponent) {
  Problem p{std::ldexp(1.0, exponent) * laplace(50), Column::Ones(50)};
  p.M = [A = p.A](Context& ctx) -> OperatorPtr<double> {
    auto here = matrix(ctx, A);
    return std::make_shared<Chebyshev>(
        ctx, here, wrapped(ctx, make_solver("cg", {.rtol = 1e-12, .max_iters = 100}), here));
  };
  return p;
}

/// An M that solves to the last digit is a fixed map as far as anyone can see.
constexpr char const* square = "cg chronopoulos_gear bicgstab gmres gmres_left fgmres minres";

}  // namespace

std::vector<Case> inner_cases() {
  using enum Stop;
  using enum Answer;
  auto few = [](std::string const& name, std::string const& method, int steps, int restart = 30) {
    return Case{
        cat("inner_", name),
        "fgmres",
        [=] { return inner(laplace(100), method, {.rtol = 0.1, .max_iters = steps}, restart); },
        {converged},
        Cause::none,
        solution,
        {},
        60};
  };
  auto nothing = [](std::string const& name, std::string const& methods,
                    std::function<Problem()> make) {
    return Case{cat("inner_", name), methods,  std::move(make), {breakdown},
                Cause::inner_solver, untouched};
  };
  return {
      few("cg_1", "cg", 1),
      few("cg_2", "cg", 2),
      few("cg_5", "cg", 5),
      few("cg_20", "cg", 20),
      few("cg_40", "cg", 40),
      few("chronopoulos_gear_7", "chronopoulos_gear", 7),
      few("pipelined_cg_7", "pipelined_cg", 7),
      few("bicgstab_1", "bicgstab", 1),
      few("bicgstab_4", "bicgstab", 4),
      few("bicgstab_20", "bicgstab", 20),
      few("minres_2", "minres", 2),
      few("lsmr_5", "lsmr", 5),
      few("gmres_that_restarts", "gmres", 11, 4),
      {"inner_rtol_1",
       "fgmres",
       [] { return inner(laplace(100), "cg", {.rtol = 1, .max_iters = 30}); },
       {converged},
       Cause::none,
       solution,
       {},
       60},
      {"inner_atol_above_all",
       "fgmres",
       [] { return inner(laplace(40), "cg", {.atol = 1e10, .max_iters = 30}); },
       {converged},
       Cause::none,
       solution,
       {},
       60},
      {"inner_solved",
       square,
       [] { return inner(laplace(60), "minres", {.rtol = 1e-13, .max_iters = 200}); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 1e-7}},
      {"inner_of_random_spd",
       "fgmres",
       [] {
         Problem p = inner(random_spd(40, 4, 7), "cg", {.max_iters = 3});
         p.b = random_column(40, 8);
         return p;
       },
       {converged},
       Cause::none,
       solution,
       {},
       40},
      {"inner_two_deep", "fgmres", two_deep, {converged}, Cause::none, solution},
      // Steps before the curvature turns negative are kept.
      {"inner_cg_turns_indefinite",
       "fgmres",
       [] {
         return inner(diagonal({1, -2, 3}), "cg", {.max_iters = 10});
       },
       {converged},
       Cause::none,
       solution},
      {"inner_cg_indefinite_shift",
       "fgmres",
       [] {
         Matrix A = laplace(40) - 0.03 * Matrix::Identity(40, 40);
         return inner(A, "cg", {.max_iters = 6});
       },
       {converged},
       Cause::none,
       solution,
       {},
       40},
      {"inner_singular_consistent",
       "fgmres",
       [] {
         Problem p = inner(path_laplacian(30), "cg", {.max_iters = 4});
         Column b = random_column(30, 5);
         p.b = b.array() - b.mean();
         return p;
       },
       {converged},
       Cause::none,
       any},
      // Nothing to give: the inner solver is named, and A is not blamed.
      nothing("cg_negative_definite", "cg bicgstab gmres gmres_left fgmres minres",
              [] { return inner(-laplace(30), "cg", {.max_iters = 10}); }),
      nothing("cg_zero_curvature", "fgmres gmres bicgstab", [] { return exchange("cg", 5); }),
      nothing("minres_1_step_makes_none", "fgmres", [] { return exchange("minres", 1); }),
      nothing("no_steps", square, [] { return inner(laplace(30), "cg", {.max_iters = 0}); }),
      nothing("preconditioner_nan", "fgmres bicgstab gmres", poisoned),
      {"inner_minres_2_steps_solve",
       "fgmres",
       [] { return exchange("minres", 2); },
       {converged},
       Cause::none,
       solution},
      {"inner_chebyshev",
       "fgmres",
       [] { return chebyshev_over_cg(0); },
       {converged},
       Cause::none,
       solution},
      {"inner_chebyshev_large",
       "fgmres",
       [] { return chebyshev_over_cg(600); },
       {converged},
       Cause::none,
       any},
      {"inner_chebyshev_small",
       "fgmres",
       [] { return chebyshev_over_cg(-600); },
       {converged},
       Cause::none,
       any},
      {"inner_cg_large",
       "fgmres",
       [] { return inner(0x1p700 * laplace(50), "cg", {.rtol = 0.1, .max_iters = 8}); },
       {converged},
       Cause::none,
       any},
      {"inner_cg_small",
       "fgmres",
       [] { return inner(0x1p-700 * laplace(50), "cg", {.rtol = 0.1, .max_iters = 8}); },
       {converged},
       Cause::none,
       any},
  };
}

namespace {

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
