// SPDX-License-Identifier: Apache-2.0
/// What may be claimed of a residual: least-squares solutions, near-solutions that only look like
/// them, residuals below the rounding of a plain sum, tolerances near the attainable accuracy.
#include <limits>

#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

constexpr char const* general = "bicgstab gmres gmres_left fgmres lsmr";

/// tridiag(-1, 2, -1), its ends held by a penalty (Dirichlet values by a large diagonal entry).
Problem penalty(Index n, double size) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = i == 0 || i == n - 1 ? size : 2;
    if (i > 0) a(i, i - 1) = -1;
    if (i + 1 < n) a(i, i + 1) = -1;
  }
  return {a, Column::Ones(n)};
}

Matrix hilbert(Index rows, Index cols) {
  Matrix a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) a(i, j) = 1.0 / (i + j + 1);
  return a;
}

/// Rows scaled from 1 to 10^exponent, b in the range.
Problem graded_rows(Index n, double exponent) {
  Matrix const a = graded(n, exponent).asDiagonal() * random_matrix(n, n, 81);
  return {a, a * Column::Ones(n)};
}
Problem graded_columns(Index rows, Index cols, double exponent) {
  Matrix const a = random_matrix(rows, cols, 82) * graded(cols, exponent).asDiagonal();
  return {a, random_column(rows, 83)};
}

/// A sum of all unknowns, of weight w, above rows of size 1: all columns are nearly parallel.
Problem heavy_row(double w, bool solvable) {
  Matrix a(13, 6);
  a << Matrix::Constant(1, 6, w), random_matrix(12, 6, 84);
  return {a, solvable ? Column(a * random_column(6, 85)) : random_column(13, 86)};
}

/// The first row of A (1, 1, 1) cancels: 1e16 + 1 - 1e16. Summed in the order of its columns in
/// FP64 it is 0 or 1.
Problem cancels(bool last, Column const& b) {
  Matrix a = Matrix::Identity(3, 3);
  a.row(0) << 1e16, 1, -1e16;
  if (last) a.col(1).swap(a.col(2));
  return {a, b, Column::Ones(3)};
}

/// Tall, cond 10^exponent, with so much of b outside the range.
Problem ill_conditioned(double exponent, double outside) {
  Matrix const u = orthogonal(random_matrix(30, 30, 87));
  Matrix const v = orthogonal(random_matrix(8, 8, 88));
  Matrix const a = u.leftCols(8) * graded(8, -exponent).asDiagonal() * v.transpose();
  return {a, u.leftCols(8) * Column::Ones(8) + outside * u.col(20)};
}

Problem nearly_equal_rows(double difference) {
  return {Matrix{{1, 1}, {1, 1 + difference}}, Column{{1, 2}}};
}

}  // namespace

std::vector<Case> claim_cases() {
  using enum Stop;
  using enum Answer;
  // An honest word where the residual misses the tolerance; never least_squares.
  std::vector<Stop> const no_claim{converged, stagnated, precision_limit, max_iterations,
                                   false_convergence};
  return {
      // Consistent systems whose A^T r is small against A and r long before r is.
      {"graded_diagonal",
       "lsmr",
       [] {
         return Problem{diagonal({1e10, 1}), Column{{0, 1}}};
       },
       {converged},
       {},
       solution},
      {"graded_diagonal_guess",
       "lsmr",
       [] {
         return Problem{diagonal({1e10, 1}), Column{{1, 1}}, Column{{0, 1e5}}};
       },
       {converged},
       {},
       solution},
      {"graded_diagonal_far",
       "lsmr",
       [] {
         return Problem{diagonal({1e16, 1, 1e-3}), Column{{1, 1, 1}}};
       },
       {converged, breakdown, stagnated, precision_limit, max_iterations}},
      {"graded_rows_4", "lsmr", [] { return graded_rows(8, 4); }, {converged}},
      {"graded_rows_8", "lsmr", [] { return graded_rows(8, 8); }, no_claim},
      {"nearly_equal_rows_5", "lsmr", [] { return nearly_equal_rows(1e-5); }, {converged}},
      {"nearly_equal_rows_9", "lsmr", [] { return nearly_equal_rows(1e-9); }, no_claim},
      {"nearly_equal_rows_11", "lsmr", [] { return nearly_equal_rows(1e-11); }, no_claim},
      {"penalty_4", "lsmr", [] { return penalty(50, 1e4); }, {converged}},
      {"penalty_6", "lsmr", [] { return penalty(50, 1e6); }, {converged}},
      {"penalty_8", "lsmr", [] { return penalty(50, 1e8); }, {converged}},
      {"penalty_12", "lsmr", [] { return penalty(50, 1e12); }, no_claim},
      {"penalty_6_others", "gmres fgmres minres", [] { return penalty(50, 1e6); }, {converged}},
      {"hilbert_5",
       "lsmr",
       [] {
         return Problem{hilbert(5, 5), Column::Ones(5)};
       },
       {converged}},
      {"hilbert_8", "lsmr",
       [] {
         return Problem{hilbert(8, 8), Column::Ones(8)};
       },
       no_claim},
      {"hilbert_12", "lsmr",
       [] {
         return Problem{hilbert(12, 12), Column::Ones(12)};
       },
       no_claim},
      {"heavy_row_consistent", "lsmr", [] { return heavy_row(1e6, true); }, {converged}},
      {"tall_hilbert_consistent",
       "lsmr",
       [] {
         return Problem{hilbert(20, 6), hilbert(20, 6) * Column::Ones(6)};
       },
       {converged}},

      // Really inconsistent.
      {"line_through_a_point",
       "lsmr",
       [] {
         return Problem{Matrix{{1}, {2}, {3}}, Column{{1, 0, 0}}};
       },
       {least_squares},
       Cause::none,
       minimiser,
       {.rtol = 0, .atol = 0.1}},
      {"absolute_tolerance_alone",
       "lsmr",
       [] {
         return Problem{random_matrix(40, 5, 89), random_column(40, 90)};
       },
       {least_squares},
       Cause::none,
       minimiser,
       {.rtol = 0, .atol = 1e-3},
       30,
       40},
      {"absolute_tolerance_met",
       "lsmr",
       [] {
         return Problem{random_matrix(40, 5, 89), random_column(40, 90)};
       },
       {converged},
       Cause::exact_guess,
       any,
       {.rtol = 0, .atol = 1e3}},
      {"graded_columns_3",
       "lsmr",
       [] { return graded_columns(20, 6, 3); },
       {least_squares},
       Cause::none,
       minimiser},
      {"heavy_row",
       "lsmr",
       [] { return heavy_row(1e4, false); },
       {least_squares},
       Cause::none,
       minimiser},
      {"rank_deficient_consistent_columns",
       "lsmr",
       [] {
         Matrix a(12, 6);
         a << random_matrix(12, 3, 91), random_matrix(12, 3, 91);
         return Problem{a, random_column(12, 92)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"rank_deficient_wide",
       "lsmr",
       [] {
         Matrix a(6, 15);
         a << random_matrix(3, 15, 93), random_matrix(3, 15, 93);
         return Problem{a, random_column(6, 94)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"zero_column",
       "lsmr",
       [] {
         Matrix a = random_matrix(10, 4, 95);
         a.col(2).setZero();
         return Problem{a, random_column(10, 96)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"least_squares_guess",
       "lsmr",
       [] {
         Matrix const a = random_matrix(20, 5, 97);
         Column const b = random_column(20, 98);
         return Problem{a, b, least_squares_solution(a, b)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"ill_conditioned_3",
       "lsmr",
       [] { return ill_conditioned(3, 10); },
       {least_squares},
       Cause::none,
       minimiser},
      // cond times the rounding of x leaves open whether r is the least: no claim is due, and if
      // there is one it holds (expect_invariants).
      {"ill_conditioned_10",
       "lsmr",
       [] { return ill_conditioned(10, 1); },
       {least_squares, stagnated, max_iterations, false_convergence}},
      {"ill_conditioned_14",
       "lsmr",
       [] { return ill_conditioned(14, 1e-3); },
       {least_squares, stagnated, precision_limit, max_iterations, false_convergence}},
      {"too_few_iterations",
       "lsmr",
       [] { return ill_conditioned(3, 10); },
       {max_iterations},
       Cause::none,
       any,
       {.max_iters = 3}},
      {"large_scale",
       "lsmr",
       [] {
         return Problem{0x1p+600 * random_matrix(20, 5, 97), 0x1p+400 * random_column(20, 98)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"small_scale",
       "lsmr",
       [] {
         return Problem{0x1p-600 * random_matrix(20, 5, 97), 0x1p-400 * random_column(20, 98)};
       },
       {least_squares},
       Cause::none,
       minimiser},

      // Residuals below the rounding of a plain sum.
      {"cancelling_guess",
       general,
       [] {
         return cancels(false, Column{{0, 1, 1}});
       },
       {max_iterations},
       Cause::none,
       untouched,
       {.max_iters = 0}},
      {"cancelling_guess_last",
       general,
       [] {
         return cancels(true, Column{{0, 1, 1}});
       },
       {max_iterations},
       Cause::none,
       untouched,
       {.max_iters = 0}},
      {"cancelling_guess_right",
       general,
       [] {
         return cancels(false, Column{{1, 1, 1}});
       },
       {converged},
       Cause::exact_guess,
       untouched},
      {"cancelling_guess_right_last",
       general,
       [] {
         return cancels(true, Column{{1, 1, 1}});
       },
       {converged},
       Cause::exact_guess,
       untouched},
      {"subnormal_against_large",
       "gmres fgmres",
       [] {
         return Problem{Matrix{{65504, 1e-8, 1e5}, {6e-8, 6e-8, 0}, {0, 1e-8, 0}},
                        Column{{0, -0.7212374670554468, 1}}};
       },
       {converged, stagnated, breakdown, precision_limit, false_convergence, max_iterations},
       {},
       any,
       {.rtol = 1e-12}},
      {"nearly_equal_rows",
       general,
       [] { return nearly_equal_rows(1e-9); },
       {converged, stagnated, breakdown, precision_limit, false_convergence, max_iterations,
        diverged}},

      // Tolerances near the attainable accuracy.
      {"tolerance_near_attainable",
       "cg gmres minres bicgstab",
       [] {
         return Problem{diagonal({1, 10, 100, 1e3, 1e4, 1e5}), Column::Ones(6)};
       },
       {converged, precision_limit, stagnated, false_convergence},
       {},
       any,
       {.rtol = 1e-16}},
      {"tolerance_zero",
       "gmres minres",
       [] {
         return Problem{Matrix{{3, 1}, {1, 3}}, Column{{1, 2.7}}};
       },
       {converged, precision_limit, stagnated, false_convergence, breakdown},
       {},
       any,
       {.rtol = 0}},
  };
}

}  // namespace tcsolve::test
