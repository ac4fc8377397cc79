// SPDX-License-Identifier: Apache-2.0
/// Operators and preconditioners that are not what a method assumes: indefinite, negative,
/// nonsymmetric, zero.
#include <tests/verdicts/corpus.hpp>
#include "tests/support/dense.hpp"

namespace tcsolve::test {

namespace {

constexpr char const* others = "bicgstab gmres gmres_left fgmres minres lsmr";
constexpr char const* nonsymmetric_solvers = "bicgstab gmres gmres_left fgmres lsmr";

Problem with_preconditioner(Matrix const& A, Matrix const& M) {
  return {A, random_column(static_cast<Index>(A.rows()), 21), {}, nullptr, [M](Context& ctx) {
            return matrix(ctx, M);
          }};
}

/// [I B; B^T 0], B tall of full rank.
Problem saddle_point() {
  Matrix a = Matrix::Zero(12, 12);
  a.topLeftCorner(8, 8).setIdentity();
  a.topRightCorner(8, 4) = random_matrix(8, 4, 5);
  a.bottomLeftCorner(4, 8) = a.topRightCorner(8, 4).transpose();
  return {a, random_column(12, 6)};
}

Matrix skew(Index n) { return tridiagonal(n, -1, 0, 1); }

Matrix one_negative(Index n) {
  Column d = Column::Ones(n);
  d[n / 2] = -1;
  return d.asDiagonal();
}

}  // namespace

std::vector<Case> definiteness_cases() {
  using enum Stop;
  using enum Answer;
  // A is nonsymmetric and the method assumes otherwise: any refusal is right, and so is a residual
  // that does meet the tolerance (the invariants see to that).
  std::vector<Stop> const not_fooled{converged, indefinite_operator, breakdown,     stagnated,
                                     diverged,  false_convergence,   max_iterations};
  return {
      {"indefinite_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{diagonal({1, -1, 2}), Column::Ones(3)};
       },
       {indefinite_operator}},
      {"indefinite",
       others,
       [] {
         return Problem{diagonal({1, -1, 2}), Column::Ones(3)};
       },
       {converged},
       Cause::none,
       solution},
      {"negative_definite_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{-laplace(10), Column::Ones(10)};
       },
       {indefinite_operator},
       Cause::none,
       untouched,
       {},
       30,
       0},
      {"negative_definite",
       others,
       [] {
         return Problem{-laplace(10), Column::Ones(10)};
       },
       {converged},
       Cause::none,
       solution},
      // The negative eigenvalue shows only after some steps.
      {"late_indefinite_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         Column d = Column::LinSpaced(20, 1, 20);
         d[19] = -0.01;
         Column b = Column::Ones(20);
         b[19] = 1e-3;
         return Problem{d.asDiagonal(), b};
       },
       {indefinite_operator}},
      {"shifted_laplace_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{laplace(20) - 0.5 * Matrix::Identity(20, 20), random_column(20, 3)};
       },
       {indefinite_operator}},
      {"shifted_laplace",
       others,
       [] {
         return Problem{laplace(20) - 0.5 * Matrix::Identity(20, 20), random_column(20, 3)};
       },
       {converged},
       Cause::none,
       solution},
      {"saddle_point_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] { return saddle_point(); },
       {indefinite_operator}},
      {"saddle_point",
       "gmres fgmres gmres_left minres lsmr",
       [] { return saddle_point(); },
       {converged},
       Cause::none,
       solution},

      // <p, A p> = 0 for every p, A p != 0: not semidefinite either.
      {"skew_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{skew(6), random_column(6, 8)};
       },
       {indefinite_operator},
       {},
       untouched},
      {"skew_gmres",
       "gmres gmres_left fgmres lsmr",
       [] {
         return Problem{skew(6), random_column(6, 8)};
       },
       {converged},
       Cause::none,
       solution},
      {"skew_minres",
       "minres",
       [] {
         return Problem{skew(6), random_column(6, 8)};
       },
       // MINRES takes A for symmetric; its recurrence falls slowly and without end.
       {breakdown, stagnated, diverged, false_convergence, max_iterations}},
      {"rotation_cg",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{Matrix{{0, 1}, {-1, 0}}, Column::Ones(2)};
       },
       {indefinite_operator},
       {},
       untouched},
      {"nonsymmetric_cg", "cg chronopoulos_gear pipelined_cg",
       [] {
         return Problem{tridiagonal(20, -3, 4, -1), Column::Ones(20)};
       },
       not_fooled},
      {"nonsymmetric_minres", "minres",
       [] {
         return Problem{tridiagonal(20, -3, 4, -1), Column::Ones(20)};
       },
       not_fooled},
      {"upper_triangular_cg", "cg chronopoulos_gear pipelined_cg minres",
       [] {
         return Problem{tridiagonal(15, 0, 1, -2), Column::Ones(15)};
       },
       not_fooled},
      {"nonsymmetric",
       "bicgstab gmres gmres_left fgmres lsmr",
       [] {
         return Problem{tridiagonal(20, -3, 4, -1), Column::Ones(20)};
       },
       {converged},
       Cause::none,
       solution},

      // M.
      {"indefinite_preconditioner",
       "cg chronopoulos_gear pipelined_cg minres",
       [] { return with_preconditioner(laplace(10), one_negative(10)); },
       {indefinite_preconditioner}},
      {"indefinite_preconditioner_general",
       nonsymmetric_solvers,
       [] { return with_preconditioner(laplace(10), one_negative(10)); },
       {converged},
       Cause::none,
       solution},
      {"negative_preconditioner",
       "cg chronopoulos_gear pipelined_cg minres",
       [] { return with_preconditioner(laplace(10), -Matrix::Identity(10, 10)); },
       {indefinite_preconditioner},
       {},
       untouched},
      {"negative_preconditioner_general",
       nonsymmetric_solvers,
       [] { return with_preconditioner(laplace(10), -Matrix::Identity(10, 10)); },
       {converged},
       Cause::none,
       solution},
      {"zero_preconditioner",
       "cg chronopoulos_gear pipelined_cg minres",
       [] { return with_preconditioner(laplace(10), Matrix::Zero(10, 10)); },
       {indefinite_preconditioner},
       {},
       untouched},
      // A M = 0 is singular. (The shadow's product is what BiCGStab sees of it.)
      {"zero_preconditioner_general",
       "gmres gmres_left fgmres lsmr",
       [] { return with_preconditioner(laplace(10), Matrix::Zero(10, 10)); },
       {breakdown},
       Cause::singular_operator,
       untouched},
      {"zero_preconditioner_bicgstab",
       "bicgstab",
       [] { return with_preconditioner(laplace(10), Matrix::Zero(10, 10)); },
       {breakdown},
       Cause::sigma,
       untouched},
      // M leaves one unknown out, which b needs: no method can get there.
      {"singular_preconditioner",
       "gmres gmres_left fgmres lsmr",
       [] {
         Column d = Column::Ones(6);
         d[2] = 0;
         return with_preconditioner(diagonal({1, 2, 3, 4, 5, 6}), d.asDiagonal());
       },
       {breakdown, stagnated, false_convergence}},
      // As far from symmetric as it gets; CG's own recurrence stays true to r whatever M is.
      {"nonsymmetric_preconditioner",
       "cg chronopoulos_gear pipelined_cg minres",
       [] {
         Matrix m = Matrix::Identity(10, 10);
         m.triangularView<Eigen::StrictlyUpper>().setConstant(3);
         return with_preconditioner(laplace(10), m);
       },
       {converged, indefinite_preconditioner, indefinite_operator, stagnated, diverged, breakdown,
        false_convergence}},
      // A good one: the exact inverse.
      {"inverse_preconditioner",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr",
       [] { return with_preconditioner(laplace(10), inverse_of(laplace(10))); },
       {converged},
       Cause::none,
       solution,
       {},
       30,
       2},
      // A fixed, definite, badly scaled M: its norm says little about r, yet the system is easy.
      {"graded_preconditioner",
       "gmres_left minres",
       [] {
         return with_preconditioner(Matrix::Identity(8, 8) + 0.1 * laplace(8),
                                    graded(8, -9).asDiagonal());
       },
       {converged},
       Cause::none,
       solution},
      {"graded_preconditioner_right",
       "cg chronopoulos_gear pipelined_cg bicgstab gmres fgmres lsmr",
       [] {
         return with_preconditioner(Matrix::Identity(8, 8) + 0.1 * laplace(8),
                                    graded(8, -4).asDiagonal());
       },
       {converged},
       Cause::none,
       solution},
  };
}

}  // namespace tcsolve::test
