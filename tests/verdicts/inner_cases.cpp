// SPDX-License-Identifier: Apache-2.0
/// Solvers as preconditioners: how few steps they may take, and what is said where they have
/// nothing to give.
#include <cmath>
#include <limits>

#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/solvers/solver_operator.hpp>

#include <tests/verdicts/inner_solvers.hpp>

namespace tcsolve::test {

OperatorPtr<double> wrapped(Context& ctx, std::shared_ptr<Solver> solver, OperatorPtr<double> A,
                            OperatorPtr<double> M) {
  solver->setup(ctx, A, std::move(M));
  return std::make_shared<SolverOperator>(std::move(solver), A->rows(), A->norm_estimate());
}

Problem inner(Matrix const& A, std::string const& method, StoppingParams const& stopping,
              int restart) {
  Problem p{A, Column::Ones(A.rows())};
  p.M = [=](Context& ctx) {
    return wrapped(ctx, make_solver(method, stopping, Execution::automatic, restart),
                   matrix(ctx, A));
  };
  return p;
}

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

}  // namespace tcsolve::test
