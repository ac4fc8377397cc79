// SPDX-License-Identifier: Apache-2.0
/// Systems whose answer is known without solving, sizes at the edge, and numbers at the ends of the
/// exponent range.
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

constexpr char const* all =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";
constexpr char const* general = "bicgstab gmres gmres_left fgmres minres lsmr";  // symmetric A
constexpr char const* projecting = "gmres gmres_left fgmres minres";

Problem scalar(double a, double b) { return {diagonal({a}), Column::Constant(1, b)}; }
Problem scaled_laplace(double a, double b) { return {a * laplace(10), b * Column::Ones(10)}; }

/// b is `value` in row i, and 0 elsewhere.
Problem unit(Index n, Index i, double value = 1) {
  return {laplace(n), value * Column::Unit(n, i)};
}

/// b is eigenvector number k of the Laplacian.
Problem eigenvector(Index n, Index k) {
  Column v(n);
  for (Index i = 0; i < n; ++i) v[i] = std::sin(M_PI * (k + 1) * (i + 1) / (n + 1));
  return {laplace(n), v};
}

/// diag(1..10) and a b in the span of three of its eigenvectors.
Problem invariant_subspace() {
  Column d = Column::LinSpaced(10, 1, 10), b = Column::Zero(10);
  b[1] = 1, b[4] = -2, b[8] = 0.5;
  return {d.asDiagonal(), b};
}

}  // namespace

std::vector<Case> trivial_cases() {
  using enum Stop;
  using enum Answer;
  Column ten = Column::LinSpaced(10, 1, 10);
  return {
      // b = 0 means x = 0, whatever the guess and whatever A.
      {"zero_rhs",
       all,
       [] {
         return Problem{laplace(5), Column::Zero(5), Column::Ones(5)};
       },
       {converged},
       Cause::zero_rhs,
       zero,
       {},
       30,
       0},
      {"zero_rhs_zero_matrix",
       all,
       [] {
         return Problem{Matrix::Zero(3, 3), Column::Zero(3), Column::Ones(3)};
       },
       {converged},
       Cause::zero_rhs,
       zero,
       {},
       30,
       0},
      {"zero_rhs_absolute",
       all,
       [] {
         return Problem{laplace(5), Column::Zero(5)};
       },
       {converged},
       Cause::zero_rhs,
       zero,
       {.atol = 1e-12, .baseline = Baseline::absolute},
       30,
       0},
      {"empty_0x0",
       all,
       [] {
         return Problem{Matrix(0, 0), Column(0)};
       },
       {converged},
       Cause::zero_rhs,
       any,
       {},
       30,
       0},
      {"empty_0x3",
       "lsmr",
       [] {
         return Problem{Matrix(0, 3), Column(0), Column::Ones(3)};
       },
       {converged},
       Cause::zero_rhs,
       zero,
       {},
       30,
       0},
      {"empty_3x0",
       "lsmr",
       [] {
         return Problem{Matrix(3, 0), Column::Ones(3)};
       },
       {least_squares},
       Cause::none,
       any,
       {},
       30,
       0},

      // 1 x 1.
      {"one_positive",
       all,
       [] { return scalar(2, 3); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},
      {"one_negative",
       general,
       [] { return scalar(-2, 3); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},
      {"one_negative_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] { return scalar(-2, 3); },
       {indefinite_operator},
       Cause::none,
       untouched},
      {"one_zero",
       projecting,
       [] { return scalar(0, 3); },
       {breakdown},
       Cause::singular_operator,
       untouched},
      // 0 is semidefinite, so "indefinite" would be wrong: nothing but the singularity is known.
      {"one_zero_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] { return scalar(0, 3); },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"one_zero_bicgstab", "bicgstab", [] { return scalar(0, 3); }, {breakdown}, {}, untouched},
      {"one_zero_lsmr",
       "lsmr",
       [] { return scalar(0, 3); },
       {least_squares},
       Cause::none,
       minimiser},

      // The guess is the answer already.
      {"exact_guess",
       all,
       [] {
         Column x = Column::LinSpaced(6, 1, 6);
         return Problem{laplace(6), laplace(6) * x, x};
       },
       {converged},
       Cause::exact_guess,
       untouched,
       {},
       30,
       0},
      {"exact_guess_initial_baseline",
       all,
       [] {
         Column x = Column::LinSpaced(6, 1, 6);
         return Problem{laplace(6), laplace(6) * x, x};
       },
       {converged},
       Cause::exact_guess,
       untouched,
       {.baseline = Baseline::initial},
       30,
       0},
      {"rtol_one",
       all,
       [] {
         return Problem{laplace(5), Column::Ones(5)};
       },
       {converged},
       Cause::exact_guess,
       zero,
       {.rtol = 1},
       30,
       0},
      // A guess so bad that b drowns in it: solving must still end at b's tolerance, or say why
      // not.
      {"huge_guess",
       all,
       [] {
         return Problem{laplace(8), Column::Ones(8), Column::Constant(8, 1e12)};
       },
       {converged},
       Cause::none,
       solution},

      // b is a column of the identity: x is that column of the inverse.
      {"unit_first", all, [] { return unit(12, 0); }, {converged}, Cause::none, solution},
      {"unit_middle", all, [] { return unit(12, 5); }, {converged}, Cause::none, solution},
      {"unit_last", all, [] { return unit(12, 11); }, {converged}, Cause::none, solution},
      {"unit_tiny", all, [] { return unit(12, 3, 1e-280); }, {converged}, Cause::none, solution},
      // An equation by itself: nothing else is reached.
      {"unit_of_a_row_by_itself",
       all,
       [] {
         return Problem{diagonal({4, 2, 8, 3}), Column::Unit(4, 2)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},

      // The Krylov space ends early: the answer must be found there and then.
      {"identity",
       all,
       [] {
         return Problem{Matrix::Identity(7, 7), Column::LinSpaced(7, -1, 3)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},
      {"two_eigenvalues",
       all,
       [] {
         return Problem{diagonal({1, 1, 3, 3, 1}), random_column(5, 4)};
       },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       2},
      {"eigenvector",
       all,
       [] { return eigenvector(9, 0); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},
      {"eigenvector_high",
       all,
       [] { return eigenvector(12, 10); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       1},
      {"invariant_subspace",
       all,
       [] { return invariant_subspace(); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       3},
      {"lucky_at_tight_rtol",
       "gmres gmres_left fgmres",
       [] { return invariant_subspace(); },
       {converged},
       Cause::none,
       solution,
       {.rtol = 1e-14},
       30,
       4},

      // The ends of the exponent range.
      {"tiny_rhs",
       all,
       [] { return scaled_laplace(1, 1e-300); },
       {converged},
       Cause::none,
       solution},
      {"huge_rhs",
       all,
       [] { return scaled_laplace(1, 1e300); },
       {converged},
       Cause::none,
       solution},
      {"subnormal_rhs",
       all,
       [] {
         return Problem{2 * Matrix::Identity(4, 4), Column::Constant(4, 0x1p-1070)};
       },
       {converged},
       Cause::none,
       any,
       {},
       30,
       1},
      {"tiny_matrix", all, [] { return scaled_laplace(1e-300, 1); }, {converged}},
      {"huge_matrix", all, [] { return scaled_laplace(1e300, 1); }, {converged}},
      {"tiny_both", all, [] { return scaled_laplace(1e-300, 1e-300); }, {converged}},
      {"huge_both", all, [] { return scaled_laplace(1e300, 1e300); }, {converged}},
      {"subnormal_matrix",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres",
       [] { return scaled_laplace(0x1p-1060, 0x1p-1000); },
       {converged}},
      // Products with a subnormal A round to a few bits: A and A^T are not transposes of each
      // other.
      {"subnormal_matrix_lsmr",
       "lsmr",
       [] { return scaled_laplace(0x1p-1060, 0x1p-1000); },
       {converged, max_iterations, stagnated, false_convergence}},
      // x = 2^-1800 is 0 in FP64: no better x can be represented.
      {"solution_underflows",
       all,
       [] { return scaled_laplace(0x1p900, 0x1p-900); },
       {precision_limit},
       {},
       zero},
      // x = 2^1800 is not an FP64 number.
      {"solution_overflows",
       all,
       [] { return scaled_laplace(0x1p-900, 0x1p900); },
       {nonfinite},
       Cause::overflow,
       untouched},
  };
}

}  // namespace tcsolve::test
