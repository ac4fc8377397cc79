// SPDX-License-Identifier: Apache-2.0
/// Recurrences that divide by zero or stand still.
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

Problem shift(Index n) { return {cyclic_shift(n), Column::Unit(n, 0)}; }

/// Eigenvalues +-i sigma: <A s, s> = 0 for every s, so that omega = 0.
Problem skew_blocks() {
  Matrix a = Matrix::Zero(8, 8);
  for (Index k = 0; k < 4; ++k) a(2 * k, 2 * k + 1) = k + 1, a(2 * k + 1, 2 * k) = -(k + 1);
  return {a, random_column(8, 51)};
}

}  // namespace

std::vector<Case> breakdown_cases() {
  using enum Stop;
  using enum Answer;
  return {
      // GMRES(m < n) makes no step at all on a cyclic shift (Nachtigal, Reddy, Trefethen 1992).
      {"gmres5_shift",
       "gmres gmres_left fgmres",
       [] { return shift(20); },
       {stagnated},
       Cause::none,
       untouched,
       {},
       5},
      {"gmres9_shift10",
       "gmres gmres_left fgmres",
       [] { return shift(10); },
       {stagnated},
       Cause::none,
       untouched,
       {},
       9},
      {"gmres_full_shift",
       "gmres gmres_left fgmres",
       [] { return shift(20); },
       {converged},
       Cause::none,
       solution,
       {},
       20,
       20},
      {"gmres_shift_max_iters",
       "gmres fgmres",
       [] { return shift(20); },
       {max_iterations},
       Cause::none,
       untouched,
       {.max_iters = 19},
       30},
      {"gmres1_indefinite",
       "gmres gmres_left fgmres",
       [] {
         return Problem{diagonal({1, -1}), Column::Ones(2)};
       },
       {stagnated},
       Cause::none,
       untouched,
       {},
       1},
      {"gmres2_indefinite",
       "gmres gmres_left fgmres",
       [] {
         return Problem{diagonal({1, -1}), Column::Ones(2)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       2,
       2},
      {"gmres_restart_beyond_n",
       "gmres gmres_left fgmres",
       [] {
         return Problem{tridiagonal(6, -3, 4, -1), Column::Ones(6)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       1000,
       7},
      {"lsmr_shift",
       "lsmr",
       [] { return shift(20); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},

      // <r~, A r> = 0 in the first step; a new shadow vector helps over it, or does not.
      {"bicgstab_shift",
       "bicgstab",
       [] { return shift(8); },
       {converged, breakdown, stagnated, diverged}},
      {"bicgstab_swap",
       "bicgstab",
       [] {
         return Problem{Matrix{{0, 1}, {1, 0}}, Column{{1, 0}}};
       },
       {converged},
       Cause::none,
       solution},
      {"bicgstab_skew", "bicgstab", [] { return skew_blocks(); }, {breakdown}, Cause::omega},
      {"bicgstab_rotation",
       "bicgstab",
       [] {
         return Problem{Matrix{{0, 1}, {-1, 0}}, Column{{1, 2}}};
       },
       {breakdown, converged}},
      {"bicgstab_indefinite",
       "bicgstab",
       [] {
         return Problem{diagonal({1, -1}), Column::Ones(2)};
       },
       {converged},
       Cause::none,
       solution},
      // alternating signs: sigma and omega both vanish for the first shadow.
      {"bicgstab_alternating",
       "bicgstab",
       [] {
         return Problem{diagonal({1, -1, 2, -2}), Column::Ones(4)};
       },
       {converged},
       Cause::none,
       solution},

      // MINRES and CG on b in an invariant subspace on which A is singular.
      {"minres_singular_subspace",
       "minres",
       [] {
         return Problem{diagonal({0, 1, 2}), Column{{1, 0, 0}}};
       },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"minres_plus_minus",
       "minres",
       [] {
         return Problem{diagonal({1, -1}), Column::Ones(2)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       2},

      // A transient growth of the residual beyond divtol.
      {"diverges_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         Column d = graded(40, 8);
         return Problem{d.asDiagonal(), d.cwiseInverse()};
       },
       {diverged},
       Cause::none,
       any,
       {.rtol = 1e-12, .divtol = 1.5}},
      {"divtol_infinite",
       "bicgstab",
       [] {
         return Problem{tridiagonal(30, -3, 4, -1), Column::Ones(30)};
       },
       {converged},
       Cause::none,
       solution,
       {.divtol = std::numeric_limits<double>::infinity()}},
  };
}

}  // namespace tcsolve::test
