// SPDX-License-Identifier: Apache-2.0
/// Singular and rectangular systems, consistent or not.
#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

constexpr char const* all =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr";

/// b = A x for a random x: in the range of A.
Problem consistent(Matrix const& A) {
  return {A, A * random_column(static_cast<Index>(A.cols()), 31)};
}
Problem inconsistent(Matrix const& A) {
  return {A, random_column(static_cast<Index>(A.rows()), 32)};
}

/// Rank 4 of n.
Matrix low_rank(Index rows, Index cols) {
  return random_matrix(rows, 4, 33) * random_matrix(4, cols, 34);
}

/// Singular values from 1 down to 10^-exponent, least-squares residual of the size of b.
Problem hard_least_squares(Index rows, Index cols, double exponent) {
  Matrix u = orthogonal(random_matrix(rows, rows, 35));
  Matrix v = orthogonal(random_matrix(cols, cols, 36));
  Matrix a = u.leftCols(cols) * graded(cols, -exponent).asDiagonal() * v.transpose();
  return {a, a * random_column(cols, 37) + 10 * u.col(rows - 1)};
}

/// Columns of very different length, and M that makes them equal.
Problem scaled_least_squares() {
  Matrix a = random_matrix(20, 6, 38) * graded(6, 6).asDiagonal();
  Matrix m = a.colwise().norm().cwiseInverse().asDiagonal();
  return {a, random_column(20, 39), {}, nullptr, [m](Context& ctx) { return matrix(ctx, m); }};
}

}  // namespace

Matrix circulation(Index n) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = 3;
    a(i, (i + n - 1) % n) = -2;
    a(i, (i + 1) % n) = -1;
  }
  return a;
}

std::vector<Case> singular_cases() {
  using enum Stop;
  using enum Answer;
  // There is no solution and the methods for square systems do not look for a least-squares one:
  // the residual must stop falling (stagnated) or the Krylov space must be seen to end (breakdown).
  std::vector<Stop> const no_solution{stagnated, breakdown};
  Matrix jordan{{0, 1}, {0, 0}};
  return {
      {"consistent_laplacian", all, [] { return consistent(path_laplacian(12)); }, {converged}},
      {"consistent_laplacian_guess",
       all,
       [] {
         Problem p = consistent(path_laplacian(12));
         p.x0 = Column::Constant(12, 100);  // in the kernel, and to be kept
         return p;
       },
       {converged}},
      {"consistent_diagonal",
       all,
       [] {
         return Problem{diagonal({1, 2, 0, 3}), Column{{1, 2, 0, -1}}};
       },
       {converged},
       Cause::none,
       any,
       {},
       30,
       3},
      {"consistent_circulation",
       "bicgstab gmres gmres_left fgmres lsmr",
       [] { return consistent(circulation(10)); },
       {converged}},
      {"consistent_indefinite",
       "gmres gmres_left fgmres minres lsmr",
       [] {
         return consistent(diagonal({1, -2, 0, 3, 0, -1}));
       },
       {converged}},
      {"inconsistent_laplacian_cg", "cg chronopoulos_gear pipelined_cg",
       [] { return inconsistent(path_laplacian(12)); }, no_solution},
      {"inconsistent_laplacian", "gmres gmres_left fgmres minres",
       [] { return inconsistent(path_laplacian(12)); }, no_solution},
      {"inconsistent_laplacian_bicgstab",
       "bicgstab",
       [] { return inconsistent(path_laplacian(12)); },
       {stagnated, breakdown, diverged}},
      {"inconsistent_laplacian_lsmr",
       "lsmr",
       [] { return inconsistent(path_laplacian(12)); },
       {least_squares},
       Cause::none,
       minimiser},
      {"rhs_in_kernel_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{path_laplacian(8), Column::Ones(8)};
       },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"rhs_in_kernel",
       "gmres gmres_left fgmres minres",
       [] {
         return Problem{path_laplacian(8), Column::Ones(8)};
       },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"rhs_in_kernel_bicgstab",
       "bicgstab",
       [] {
         return Problem{path_laplacian(8), Column::Ones(8)};
       },
       {breakdown},
       {},
       untouched},
      {"rhs_in_kernel_lsmr",
       "lsmr",
       [] {
         return Problem{path_laplacian(8), Column::Ones(8)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"inconsistent_diagonal_cg", "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{diagonal({1, 2, 0}), Column::Ones(3)};
       },
       no_solution},
      {"inconsistent_diagonal", "gmres gmres_left fgmres minres",
       [] {
         return Problem{diagonal({1, 2, 0}), Column::Ones(3)};
       },
       no_solution},
      {"inconsistent_diagonal_lsmr",
       "lsmr",
       [] {
         return Problem{diagonal({1, 2, 0}), Column::Ones(3)};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"inconsistent_circulation", "gmres gmres_left fgmres",
       [] { return inconsistent(circulation(10)); }, no_solution},
      {"inconsistent_circulation_bicgstab",
       "bicgstab",
       [] { return inconsistent(circulation(10)); },
       {stagnated, breakdown, diverged}},
      {"inconsistent_circulation_lsmr",
       "lsmr",
       [] { return inconsistent(circulation(10)); },
       {least_squares},
       Cause::none,
       minimiser},
      // b leaves the range by a millionth: some progress, then the end all the same.
      {"slightly_inconsistent", "cg chronopoulos_gear pipelined_cg gmres gmres_left fgmres",
       [] {
         Problem p = consistent(path_laplacian(12));
         p.b += Column::Constant(12, 1e-6);
         return p;
       },
       no_solution},
      {"slightly_inconsistent_lsmr",
       "lsmr",
       [] {
         Problem p = consistent(path_laplacian(12));
         p.b += Column::Constant(12, 1e-6);
         return p;
       },
       {least_squares},
       Cause::none,
       minimiser},
      // MINRES' recurrence loses the end of the Krylov space in rounding and goes on falling: the
      // driver looks, and sees.
      {"slightly_inconsistent_minres",
       "minres",
       [] {
         Problem p = consistent(path_laplacian(12));
         p.b += Column::Constant(12, 1e-6);
         return p;
       },
       {breakdown, stagnated}},
      // The kernel is known to rounding only.
      {"rhs_in_kernel_rounded",
       "gmres gmres_left fgmres minres",
       [] {
         Matrix q = orthogonal(random_matrix(8, 8, 43));
         Matrix a = q * diagonal({0, 1, 2, 3, 4, 5, 6, 7}) * q.transpose();
         return Problem{(a + a.transpose()) / 2, q.col(0)};
       },
       {stagnated, breakdown, diverged}},
      // These two have no basis in which to see it: with an eigenvalue of 1e-17 for 0 they arrive
      // at an x of 1e16, which the true residual refutes.
      {"rhs_in_kernel_rounded_short",
       "cg chronopoulos_gear pipelined_cg bicgstab",
       [] {
         Matrix q = orthogonal(random_matrix(8, 8, 43));
         Matrix a = q * diagonal({0, 1, 2, 3, 4, 5, 6, 7}) * q.transpose();
         return Problem{(a + a.transpose()) / 2, q.col(0)};
       },
       {stagnated, breakdown, diverged, false_convergence}},
      // M makes columns that were equal unequal: A^T r must be small, not M^T A^T r.
      {"misleading_preconditioner",
       "lsmr",
       [] {
         Problem p = inconsistent(random_matrix(20, 6, 44));
         p.M = [](Context& ctx) { return matrix(ctx, graded(6, 4).asDiagonal()); };
         return p;
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"zero_matrix_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] { return inconsistent(Matrix::Zero(4, 4)); },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"zero_matrix",
       "gmres gmres_left fgmres minres",
       [] { return inconsistent(Matrix::Zero(4, 4)); },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"zero_matrix_bicgstab",
       "bicgstab",
       [] { return inconsistent(Matrix::Zero(4, 4)); },
       {breakdown},
       {},
       untouched},
      {"zero_matrix_lsmr",
       "lsmr",
       [] { return inconsistent(Matrix::Zero(4, 4)); },
       {least_squares},
       Cause::none,
       minimiser},
      // A e_2 = e_1, A e_1 = 0: x = e_2 solves, but the Krylov space of b = e_1 is e_1 alone.
      {"jordan_consistent",
       "gmres gmres_left fgmres",
       [=] {
         return Problem{jordan, Column{{1, 0}}};
       },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"jordan_consistent_bicgstab",
       "bicgstab",
       [=] {
         return Problem{jordan, Column{{1, 0}}};
       },
       {breakdown},
       {},
       untouched},
      {"jordan_consistent_lsmr",
       "lsmr",
       [=] {
         return Problem{jordan, Column{{1, 0}}};
       },
       {converged},
       Cause::none},
      {"jordan_inconsistent",
       "gmres gmres_left fgmres",
       [=] {
         return Problem{jordan, Column{{0, 1}}};
       },
       no_solution,
       {},
       untouched},
      {"jordan_inconsistent_lsmr",
       "lsmr",
       [=] {
         return Problem{jordan, Column{{0, 1}}};
       },
       {least_squares},
       Cause::none,
       minimiser},
      {"rank_one",
       "gmres fgmres gmres_left minres lsmr",
       [] {
         Column u = Column::LinSpaced(5, 1, 2);
         return Problem{u * u.transpose(), 3 * u};
       },
       {converged},
       Cause::none,
       any,
       {},
       30,
       1},

      // Least squares.
      {"tall",
       "lsmr",
       [] { return inconsistent(random_matrix(20, 7, 40)); },
       {least_squares},
       Cause::none,
       minimiser},
      {"tall_consistent",
       "lsmr",
       [] { return consistent(random_matrix(20, 7, 40)); },
       {converged},
       Cause::none,
       minimiser},
      {"wide",
       "lsmr",
       [] { return inconsistent(random_matrix(7, 20, 41)); },
       {converged},
       Cause::none,
       minimiser},
      {"tall_rank_deficient",
       "lsmr",
       [] { return inconsistent(low_rank(15, 8)); },
       {least_squares},
       Cause::none,
       minimiser},
      {"wide_rank_deficient",
       "lsmr",
       [] { return inconsistent(low_rank(8, 15)); },
       {least_squares},
       Cause::none,
       minimiser},
      {"single_column",
       "lsmr",
       [] { return inconsistent(random_matrix(9, 1, 42)); },
       {least_squares},
       Cause::none,
       minimiser,
       {},
       30,
       1},
      {"single_row",
       "lsmr",
       [] { return inconsistent(random_matrix(1, 9, 42)); },
       {converged},
       Cause::none,
       minimiser,
       {},
       30,
       1},
      {"rhs_orthogonal_to_range",
       "lsmr",
       [] {
         return Problem{Matrix{{1, 2}, {3, 4}, {0, 0}}, Column{{0, 0, 5}}};
       },
       {least_squares},
       Cause::none,
       zero,
       {},
       30,
       0},
      // ||r|| is flat long before A^T r is small: that is no stagnation.
      {"hard_least_squares",
       "lsmr",
       [] { return hard_least_squares(40, 25, 3); },
       {least_squares},
       Cause::none,
       minimiser,
       {.rtol = 1e-10}},
      {"scaled_least_squares",
       "lsmr",
       [] { return scaled_least_squares(); },
       {least_squares},
       Cause::none,
       minimiser},
  };
}

}  // namespace tcsolve::test
