// SPDX-License-Identifier: Apache-2.0
/// Each key of StoppingParams ends a solve, under its own name.
#include <chrono>
#include <thread>

#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

constexpr char const* all =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";

Problem spd(Index n = 30) { return {random_spd(n, 3, 91), random_column(n, 91)}; }

Problem slow() {
  Problem p = spd();
  p.op = [a = p.A](Context&) {
    Map f = [a](Column const& x) -> Column {
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      return a * x;
    };
    return callable(30, 30, f, f);
  };
  p.rounded = true;
  return p;
}

Problem warm() {
  Problem p = spd();
  p.x0 = lu_solve(p.A, p.b) + 1e-6 * random_column(30, 92);
  return p;
}

}  // namespace

std::vector<Case> stopping_cases() {
  using enum Stop;
  using enum Answer;
  return {
      {"plain", all, [] { return spd(); }, {converged}, Cause::none, solution},
      {"max_iters_0",
       all,
       [] { return spd(); },
       {max_iterations},
       Cause::none,
       untouched,
       {.max_iters = 0},
       30,
       0},
      {"max_iters_0_exact_guess",
       all,
       [] {
         return Problem{laplace(6), laplace(6) * Column::Ones(6), Column::Ones(6)};
       },
       {converged},
       Cause::exact_guess,
       untouched,
       {.max_iters = 0},
       30,
       0},
      {"max_iters_1",
       all,
       [] { return spd(); },
       {max_iterations},
       Cause::none,
       any,
       {.max_iters = 1}},
      // The last iteration allowed is the one that converges.
      {"max_iters_just_enough",
       all,
       [] {
         return Problem{Matrix::Identity(4, 4), Column::Ones(4)};
       },
       {converged},
       Cause::none,
       solution,
       {.max_iters = 1},
       30,
       1},
      {"max_iters_across_restarts",
       "gmres gmres_left fgmres",
       [] { return spd(); },
       {max_iterations},
       Cause::none,
       any,
       {.max_iters = 7},
       3,
       7},
      {"rtol_loose", all, [] { return spd(); }, {converged}, Cause::none, solution, {.rtol = 0.5}},
      {"rtol_tight",
       all,
       [] {
         return Problem{random_spd(20, 1, 93), random_column(20, 93)};
       },
       {converged},
       Cause::none,
       solution,
       {.rtol = 1e-14}},
      {"atol_wins",
       all,
       [] { return spd(); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 0, .atol = 1e-3}},
      {"rtol_wins",
       all,
       [] { return spd(); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 1e-2, .atol = 1e-30}},
      {"absolute",
       all,
       [] { return spd(); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 0.9, .atol = 1e-6, .baseline = Baseline::absolute}},
      {"initial",
       all,
       [] { return warm(); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 1e-4, .baseline = Baseline::initial}},
      {"warm_start", all, [] { return warm(); }, {converged}, Cause::none, solution},
      {"time_limit",
       all,
       [] { return slow(); },
       {time_limit},
       Cause::none,
       any,
       {.time_limit = 0.05},
       30,
       30},
      {"stagnation_window_1",
       "gmres fgmres",
       [] {
         return Problem{cyclic_shift(20), Column::Unit(20, 0)};
       },
       {stagnated},
       Cause::none,
       untouched,
       {.stagnation_window = 1},
       30,
       1},
      {"stagnation_window_off",
       "gmres fgmres",
       [] {
         return Problem{cyclic_shift(25), Column::Unit(25, 0)};
       },
       {converged},
       Cause::none,
       solution,
       {.stagnation_window = 0},
       30,
       25},
  };
}

}  // namespace tcsolve::test
