// SPDX-License-Identifier: Apache-2.0
/// Tolerances beyond what FP64 can reach, operators and preconditioners that are not what they
/// claim to be, and operators that are rounded copies of the system.
#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

constexpr char const* all =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";

/// The solver sees A rounded to S.
template <class S>
Problem rounded(Matrix const& A) {
  return {A,       random_column(static_cast<Index>(A.rows()), 61),
          {},      [A](Context& ctx) { return stored<double, S>(ctx, A); },
          nullptr, true};
}
/// The solver sees B instead of A.
Problem mistaken(Matrix const& A, Matrix const& B) {
  return {A,       random_column(static_cast<Index>(A.rows()), 62),
          {},      [B](Context& ctx) { return matrix(ctx, B); },
          nullptr, true};
}

/// A positive diagonal that is another one on every call.
OperatorPtr<double> restless(Index n, double spread) {
  auto calls = std::make_shared<std::uint64_t>(0);
  Map f = [calls, spread](Column const& r) -> Column {
    std::uint64_t seed = 100 + ++*calls;
    Column z = r;
    for (Index i = 0; i < z.size(); ++i)
      z[i] *= 1 + spread * uniform(seed, static_cast<std::uint64_t>(i));
    return z;
  };
  return callable(n, n, f, f);
}
Problem restless_preconditioner(Index n, double spread) {
  return {
      laplace(n), random_column(n, 63), {}, nullptr, [=](Context&) { return restless(n, spread); }};
}
/// Every product is off by `noise` of its size.
Problem noisy_operator(Index n, double noise) {
  return {laplace(n),
          random_column(n, 64),
          {},
          [=](Context&) {
            auto calls = std::make_shared<std::uint64_t>(0);
            Map f = [=](Column const& x) -> Column {
              Column y = laplace(n) * x;
              return y + noise * y.norm() * random_column(n, 200 + ++*calls);
            };
            return callable(n, n, f, f);
          },
          nullptr,
          true};
}

/// diag(1e-150 .. 1e150).
Problem graded300() {
  Column d(7);
  for (Index i = 0; i < 7; ++i) d[i] = std::pow(10.0, -150 + 50 * i);
  return {d.asDiagonal(), Column::Ones(7)};
}

}  // namespace

std::vector<Case> precision_cases() {
  using enum Stop;
  using enum Answer;
  return {
      // Nothing reaches 1e-18 ||b|| in FP64, and no solver may say so.
      {"rtol_1e18th",
       all,
       [] {
         return Problem{random_spd(20, 3, 65), random_column(20, 65)};
       },
       {precision_limit},
       Cause::none,
       any,
       {.rtol = 1e-18}},
      // x may happen to be exact to the last bit: then ||r|| = 0 meets it.
      {"rtol_zero",
       all,
       [] {
         return Problem{random_spd(20, 3, 65), random_column(20, 65)};
       },
       {precision_limit, converged},
       Cause::none,
       any,
       {.rtol = 0}},
      {"rtol_zero_exact",
       all,
       [] {
         return Problem{2 * Matrix::Identity(5, 5), Column::LinSpaced(5, 1, 5)};
       },
       {converged},
       Cause::none,
       solution,
       {.rtol = 0},
       30,
       3},
      {"rtol_1e18th_ill_conditioned",
       "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres",
       [] {
         return Problem{random_spd(16, 9, 66), Column::Ones(16)};
       },
       {precision_limit},
       Cause::none,
       any,
       {.rtol = 1e-18, .max_iters = 5000}},
      // With a condition of 1e9 these two may go 2 n steps without a new best: then they have
      // stalled.
      {"rtol_1e18th_ill_conditioned_hard",
       "bicgstab lsmr",
       [] {
         return Problem{random_spd(16, 9, 66), Column::Ones(16)};
       },
       {precision_limit, stagnated},
       Cause::none,
       any,
       {.rtol = 1e-18, .max_iters = 5000}},
      {"atol_unreachable",
       all,
       [] {
         return Problem{random_spd(20, 2, 67), 1e10 * random_column(20, 65)};
       },
       {precision_limit},
       Cause::none,
       any,
       {.rtol = 0, .atol = 1e-12, .baseline = Baseline::absolute}},
      // The guess is as good as FP64 allows, and 1e-8 of that is asked for.
      {"initial_baseline_unreachable",
       all,
       [] {
         Matrix a = random_spd(20, 2, 68);
         Column b = random_column(20, 68);
         return Problem{a, b, lu_solve(a, b)};
       },
       {precision_limit},
       Cause::none,
       any,
       {.baseline = Baseline::initial}},

      // Ill-conditioned: the residual is small long before x is right, and that is what was asked.
      {"hilbert12",
       all,
       [] {
         return Problem{hilbert(12), hilbert(12) * Column::Ones(12)};
       },
       {converged}},
      {"hilbert12_tight",
       "cg chronopoulos_gear bicgstab gmres gmres_left fgmres minres lsmr",
       [] {
         return Problem{hilbert(12), hilbert(12) * Column::Ones(12)};
       },
       {converged, precision_limit},
       {},
       any,
       {.rtol = 1e-15, .max_iters = 5000}},
      {"hilbert12_tight_pipelined",  // see hilbert12_hard_pipelined
       "pipelined_cg",
       [] {
         return Problem{hilbert(12), hilbert(12) * Column::Ones(12)};
       },
       {converged, precision_limit, breakdown},
       {},
       any,
       {.rtol = 1e-15, .max_iters = 5000}},
      // b needs x of size 1e16: CG and BiCGStab may stop short of it, but must say so.
      {"hilbert12_hard",
       "cg bicgstab gmres gmres_left fgmres lsmr",
       [] {
         return Problem{hilbert(12), Column::Ones(12)};
       },
       {converged, precision_limit, stagnated, false_convergence, max_iterations, diverged,
        breakdown}},  // to roundoff it is singular
      // Its condition is above 1 / roundoff: minres, which keeps its best x by now, begins again
      // from a
      // residual that A maps to nothing but rounding errors.
      {"hilbert12_hard_minres",
       "minres",
       [] {
         return Problem{hilbert(12), Column::Ones(12)};
       },
       {converged, precision_limit, stagnated, breakdown},
       {},
       any},
      // A curvature that comes from recurrences drowns in their rounding errors where the condition
      // nears 1 / roundoff. It is checked against A p, so that a breakdown of the method, or a
      // singular operator, are the right words and "indefinite" would not be.
      {"hilbert12_hard_pipelined",
       "chronopoulos_gear pipelined_cg",
       [] {
         return Problem{hilbert(12), Column::Ones(12)};
       },
       {converged, precision_limit, stagnated, false_convergence, max_iterations, diverged,
        breakdown}},
      {"condition_1e10_pipelined",
       "pipelined_cg",
       [] {
         return Problem{random_spd(20, 10, 69), Column::Ones(20)};
       },
       {converged, precision_limit, stagnated, breakdown},
       {},
       any,
       {.max_iters = 5000}},
      {"condition_1e10",
       "cg chronopoulos_gear minres gmres fgmres",
       [] {
         return Problem{random_spd(20, 10, 69), Column::Ones(20)};
       },
       {converged, precision_limit},
       {},
       any,
       {.max_iters = 5000}},
      {"graded_1e300",
       all,
       [] { return graded300(); },
       {stagnated, precision_limit, breakdown, false_convergence, max_iterations, diverged,
        converged}},
      {"graded_1e300_jacobi",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres",
       [] {
         Problem p = graded300();
         Matrix m = p.A.diagonal().cwiseInverse().asDiagonal();
         p.M = [m](Context& ctx) { return matrix(ctx, m); };
         return p;
       },
       {converged},
       Cause::none,
       any,
       {},
       30,
       3},

      // A rounded operator, an FP64 verdict.
      {"rounded_fp32",
       all,
       [] { return rounded<float>(random_spd(30, 3, 70)); },
       {converged},
       Cause::none,
       solution},
      {"rounded_fp32_tight",
       all,
       [] { return rounded<float>(random_spd(30, 2, 70)); },
       {converged, precision_limit},
       {},
       any,
       {.rtol = 1e-15}},
      {"rounded_fp16",
       all,
       [] { return rounded<half>(random_spd(30, 1, 71)); },
       {converged},
       Cause::none,
       solution},
      {"rounded_bf16",
       all,
       [] { return rounded<bfloat16>(random_spd(30, 1, 71)); },
       {converged},
       Cause::none,
       solution},
      // cond(A) 2^-11 > 1: refinement cannot contract. An x that is farther from the solution than
      // the
      // entries tell is no failure of the method, nor is a sign that their rounding explains.
      {"rounded_fp16_coarse",
       "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres",
       [] { return rounded<half>(random_spd(30, 8, 72)); },
       {precision_limit},
       Cause::values},
      // These may go astray before, or not get there.
      {"rounded_fp16_coarse_long",
       "bicgstab lsmr",
       [] { return rounded<half>(random_spd(30, 8, 72)); },
       {precision_limit, diverged, max_iterations}},
      {"rounded_bf16_coarse",
       "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres",
       [] { return rounded<bfloat16>(random_spd(30, 8, 73)); },
       {precision_limit},
       Cause::values},
      // These may go astray before, or not get there.
      {"rounded_bf16_coarse_long",
       "bicgstab lsmr",
       [] { return rounded<bfloat16>(random_spd(30, 8, 73)); },
       {precision_limit, diverged, max_iterations}},
      {"rounded_fp32_coarse",
       "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres minres",
       [] { return rounded<float>(random_spd(30, 12, 74)); },
       {precision_limit},
       Cause::values},
      // These may go astray before, or not get there.
      {"rounded_fp32_coarse_long",
       "bicgstab lsmr",
       [] { return rounded<float>(random_spd(30, 12, 74)); },
       {precision_limit, diverged, max_iterations}},

      // The operator is not the system at all.
      {"operator_of_wrong_sign",
       "gmres gmres_left fgmres minres bicgstab lsmr",
       [] { return mistaken(laplace(10), -laplace(10)); },
       {false_convergence},
       Cause::none,
       untouched},
      {"operator_of_another_system",
       "cg chronopoulos_gear pipelined_cg gmres fgmres minres",
       [] { return mistaken(laplace(10), Matrix::Identity(10, 10) * 0.1); },
       {false_convergence, stagnated}},
      // Halves the residual each time: slow, but it gets there.
      {"operator_twice_too_large",
       all,
       [] { return mistaken(laplace(10), 1.5 * laplace(10)); },
       {converged},
       Cause::none,
       solution},

      // M changes from one call to the next.
      {"restless_preconditioner",
       "cg fgmres",
       [] { return restless_preconditioner(30, 0.1); },
       {converged}},
      // One reduction is enough because <p, A p> follows from symmetry of a fixed M.
      {"restless_preconditioner_one_reduction",
       "chronopoulos_gear pipelined_cg",
       [] { return restless_preconditioner(30, 0.1); },
       {converged, breakdown, stagnated, false_convergence}},
      {"restless_preconditioner_wild",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres",
       [] { return restless_preconditioner(30, 0.9); },
       {converged, false_convergence, stagnated, breakdown, diverged, indefinite_operator,
        indefinite_preconditioner, max_iterations}},
      // Refinement in FP64 around products that are good to 1e-6 and 10 %.
      {"noisy_operator",
       "cg chronopoulos_gear pipelined_cg gmres fgmres",
       [] { return noisy_operator(10, 1e-6); },
       {converged},
       Cause::none,
       solution},
      {"noisy_operator_wild",
       all,
       [] { return noisy_operator(10, 0.3); },
       {converged, false_convergence, stagnated, diverged, indefinite_operator,
        indefinite_preconditioner, breakdown, max_iterations}},
  };
}

}  // namespace tcsolve::test
