// SPDX-License-Identifier: Apache-2.0
/// Solves that pass a good iterate on their way to a bad end: singular systems whose right-hand
/// side is slightly outside the range, methods whose residual rises, operators that a method cannot
/// take. x is the good iterate, and the name is that of the end.
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

/// The graph Laplacian of an m x m grid: kernel, the constant vector.
Matrix grid_laplacian(Index m) {
  Matrix a = Matrix::Zero(m * m, m * m);
  auto couple = [&](Index i, Index j) {
    a(i, j) = a(j, i) = -1;
    a(i, i) += 1;
    a(j, j) += 1;
  };
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j) {
      if (j + 1 < m) couple(i * m + j, i * m + j + 1);
      if (i + 1 < m) couple(i * m + j, (i + 1) * m + j);
    }
  return a;
}

/// b_k = ((7 k) mod 11) - 5 without its mean, and then 1e-7 of the kernel: no x leaves less than
/// 9e-7, 3.1e-8 of ||b||.
Problem neumann() {
  Column b(81);
  for (Index k = 0; k < 81; ++k) b[k] = (7 * k) % 11 - 5;
  b.array() -= b.mean();
  b.array() += 1e-7;
  return {grid_laplacian(9), b};
}
Problem neumann_jacobi() {
  Problem p = neumann();
  Matrix m = p.A.diagonal().cwiseInverse().asDiagonal();
  p.M = [m](Context& ctx) { return matrix(ctx, m); };
  return p;
}
constexpr double neumann_left = 3.2e-8, twice = 6.3e-8;

/// Wilkinson's W- of 21: eigenvalues +-e and 0.
Problem wilkinson() {
  Matrix a = tridiagonal(21, 1, 0, 1);
  for (Index i = 0; i < 21; ++i) a(i, i) = i - 10;
  return {a, Column::Ones(21)};
}

/// Two paths: a kernel of two dimensions, of which b has some of both.
Matrix two_paths(Index n) {
  Matrix a = Matrix::Zero(2 * n, 2 * n);
  a.topLeftCorner(n, n) = path_laplacian(n);
  a.bottomRightCorner(n, n) = 3 * path_laplacian(n);
  return a;
}
Problem two_components(double outside) {
  Matrix a = two_paths(10);
  Column b = a * random_column(20, 801);
  b.head(10).array() += outside;
  b.tail(10).array() -= 2 * outside;
  return {a, b};
}

/// D L D: the kernel is D^-1 1.
Problem scaled_laplacian(double outside) {
  Matrix d = graded(12, 2).asDiagonal();
  Matrix a = d * path_laplacian(12) * d;
  Column kernel = d.diagonal().cwiseInverse();
  Column b = a * random_column(12, 802);
  return {a, b + outside * b.norm() * kernel.normalized()};
}

Problem zero_row() {
  Matrix a = laplace(20);
  a.row(7).setZero();
  return {a, Column::Ones(20)};
}
Problem zero_column() {
  Matrix a = laplace(20);
  a.col(7).setZero();
  return {a, Column::Ones(20)};
}
Problem zero_row_and_column() {
  Matrix a = laplace(20);
  a.row(7).setZero();
  a.col(7).setZero();
  return {a, Column::Ones(20)};
}

/// Condition 1e8: CG's residual swings over several powers of ten.
Problem swinging() { return {random_spd(60, 8, 803), random_column(60, 804)}; }

Problem one_entry(double a, double b) { return {Matrix{{a}}, Column{{b}}}; }
/// x = 1e320 / k.
Problem tiny_diagonal() {
  Matrix a = Matrix::Zero(6, 6);
  for (Index k = 0; k < 6; ++k) a(k, k) = (k + 1) * 1e-320;
  return {a, Column::Ones(6)};
}
/// Every entry is finite, and the row sum is not.
Problem overflowing_rows() { return {Matrix{{1.7e308, 1e308}, {1e308, 1.7e308}}, Column{{1, 2}}}; }
Problem badly_scaled_jacobi() {
  Matrix m = Matrix{{1e20, 0}, {0, 1}};
  return {Matrix{{1e-20, 1}, {1, 1}}, Column{{1, 2}}, {}, nullptr, [m](Context& ctx) {
            return matrix(ctx, m);
          }};
}

}  // namespace

std::vector<Case> best_iterate_cases() {
  using enum Stop;
  using enum Answer;
  std::vector<Stop> const no_solution{stagnated, breakdown};
  auto reaches = [](Case c, double residual) {
    c.residual = residual;
    return c;
  };
  auto singular = Cause::singular_operator;
  return {
      reaches({"neumann_cg", "cg", neumann, {breakdown}, singular}, neumann_left),
      // The window in which no step may help is as long as max_iters.
      reaches({"neumann_one_reduction",
               "chronopoulos_gear pipelined_cg",
               neumann,
               {stagnated, breakdown, max_iterations}},
              neumann_left),
      reaches({"neumann_bicgstab",
               "bicgstab",
               neumann,
               {stagnated, breakdown, diverged, max_iterations}},
              neumann_left),
      reaches({"neumann_gmres", "gmres fgmres", neumann, no_solution}, neumann_left),
      reaches({"neumann_minres", "minres", neumann, {breakdown}, singular}, neumann_left),
      reaches(
          {"neumann_jacobi_cg", "cg chronopoulos_gear pipelined_cg", neumann_jacobi, no_solution},
          twice),
      reaches(
          {"neumann_jacobi_bicgstab", "bicgstab", neumann_jacobi, {stagnated, breakdown, diverged}},
          twice),
      reaches({"neumann_jacobi_minres", "minres", neumann_jacobi, no_solution}, twice),

      reaches({"zero_row", "gmres fgmres gmres_left", zero_row, {breakdown}, singular}, 0.24),
      reaches({"zero_row_restarted", "gmres fgmres", zero_row, no_solution, {}, any, {}, 5}, 0.5),
      reaches({"zero_row_minres", "minres", zero_row, no_solution}, 0.9),
      reaches({"zero_column_gmres", "gmres fgmres", zero_column, no_solution}, 1),
      reaches({"zero_column_minres", "minres", zero_column, no_solution}, 1),
      reaches({"zero_row_and_column",
               "gmres fgmres minres",
               zero_row_and_column,
               {breakdown},
               singular},
              0.24),
      reaches({"zero_row_and_column_cg", "cg", zero_row_and_column, no_solution}, 0.9),

      reaches({"wilkinson_minres", "minres", wilkinson, {breakdown}, singular}, 0.22),
      reaches({"wilkinson_gmres", "gmres fgmres", wilkinson, {breakdown}, singular}, 0.22),
      reaches({"two_components_minres",
               "minres",
               [] { return two_components(1e-3); },
               {breakdown},
               singular},
              2e-2),
      reaches({"two_components_barely_minres", "minres", [] { return two_components(1e-6); },
               no_solution},
              2e-5),
      reaches({"two_components_cg", "cg chronopoulos_gear pipelined_cg",
               [] { return two_components(1e-6); }, no_solution},
              2e-5),
      reaches(
          {"scaled_laplacian_minres", "minres", [] { return scaled_laplacian(1e-4); }, no_solution},
          2e-4),
      reaches({"scaled_laplacian_gmres", "gmres fgmres", [] { return scaled_laplacian(1e-4); },
               no_solution},
              2e-4),

      // MINRES on operators that are not symmetric: its norm is about nothing.
      reaches({"shift_minres", "minres",
               [] {
                 return Problem{cyclic_shift(5), Column::Unit(5, 0) + Column::Constant(5, 0.3)};
               },
               no_solution},
              1),
      reaches({"upwind_minres",
               "minres",
               [] {
                 return Problem{tridiagonal(30, -3, 4, -1), Column::Ones(30)};
               },
               {stagnated, breakdown, false_convergence}},
              1),

      reaches({"swinging_cg_short",
               "cg chronopoulos_gear pipelined_cg",
               swinging,
               {max_iterations, converged},
               {},
               any,
               {.max_iters = 150}},
              1),
      // b_k = 1 in the kernel of a rounded A is followed to x = 1e16 and back.
      reaches({"hilbert_bicgstab",
               "bicgstab",
               [] {
                 Problem p{hilbert(10), Column::Ones(10)};
                 return p;
               },
               {converged, stagnated, precision_limit, breakdown, diverged, false_convergence}},
              1e-4),

      // The ends of the exponent range.
      {"largest_1x1",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres minres",
       [] { return one_entry(1.7e308, 1.7e308); },
       {converged}},
      {"large_1x1",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres minres",
       [] { return one_entry(1.2e308, 1.2e308); },
       {converged}},
      {"tiny_diagonal",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres minres",
       tiny_diagonal,
       {nonfinite},
       Cause::overflow,
       untouched},
      {"overflowing_rows", "cg gmres minres", overflowing_rows, {nonfinite, converged}},
      {"badly_scaled_jacobi", "gmres fgmres", badly_scaled_jacobi, {breakdown}, singular},
  };
}

}  // namespace tcsolve::test
