// SPDX-License-Identifier: Apache-2.0
/// Systems whose preconditioner is amg: singular, decoupled, small, hard to coarsen.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/precond/amg/amg.hpp>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

/// Methods for a symmetric M and A.
constexpr char const* symmetric =
    "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres";
constexpr char const* general = "bicgstab gmres gmres_left fgmres";

constexpr Index side = 14;

/// The 5-point Laplacian of side x side points.
Matrix grid() {
  Matrix const one = Matrix::Identity(side, side), line = laplace(side);
  Matrix a = Matrix::Zero(side * side, side * side);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j)
      a.block(i * side, j * side, side, side) = one(i, j) * line + line(i, j) * one;
  return a;
}
/// With natural boundaries: rows sum to 0.
Matrix neumann() {
  Matrix a = grid();
  a.diagonal() -= a.rowwise().sum();
  return a;
}
/// `a` and `b` one after the other, without a coupling.
Matrix beside(Matrix const& a, Matrix const& b) {
  Matrix all = Matrix::Zero(a.rows() + b.rows(), a.rows() + b.rows());
  all.topLeftCorner(a.rows(), a.rows()) = a;
  all.bottomRightCorner(b.rows(), b.rows()) = b;
  return all;
}
/// Upwind convection beside diffusion.
Matrix convection() {
  Matrix a = grid();
  for (Index i = 1; i < a.rows(); ++i)
    if (i % side != 0) a(i, i) += 2, a(i, i - 1) -= 2;
  return a;
}
/// A full last row and column.
Matrix arrow() {
  Matrix a = grid();
  Index const n = side * side;
  a.row(n - 1).setConstant(-0.01), a.col(n - 1).setConstant(-0.01);
  a(n - 1, n - 1) = 0.01 * n;
  return a;
}
/// Complete graphs of twelve vertices: two eigenvalues, one of them 0.
Matrix cliques() {
  Matrix a = Matrix::Zero(120, 120);
  for (Index i = 0; i < 120; ++i)
    for (Index j = i / 12 * 12; j < i / 12 * 12 + 12; ++j) a(i, j) = i == j ? 11 : -1;
  return a;
}
/// Pairs of points with three unknowns: six rows an aggregate, and as many rigid body modes.
Matrix pairs() {
  Matrix a = Matrix::Zero(120, 120);
  for (Index i = 0; i < 120; ++i) {
    a(i, i) = 3;
    a(i, i / 6 * 6 + (i + 3) % 6) = -1;
  }
  return a;
}

/// A x = b, M of A; levels down to a few rows.
Problem with(Matrix const& A, Column const& b, AmgParams params = {}) {
  if (params.coarse_size == AmgParams{}.coarse_size) params.coarse_size = 8;
  return {A, b, {}, nullptr, [A, params](Context& ctx) {
            auto const op = std::make_shared<CsrOperator<double>>(ctx, csr(A));
            return AmgFactory(params).build(ctx, {op->view(), op})->view();
          }};
}
Problem regular(Matrix const& A, AmgParams const& params = {}) {
  return with(A, random_column(static_cast<Index>(A.rows()), 41), params);
}
Problem consistent(Matrix const& A) {
  return with(A, A * random_column(static_cast<Index>(A.rows()), 42));
}
std::shared_ptr<std::vector<double> const> points(std::function<double(Index)> const& at) {
  auto all = std::make_shared<std::vector<double>>();
  for (Index i = 0; i < side * side; ++i) all->push_back(at(i));
  return all;
}

}  // namespace

std::vector<Case> multigrid_cases() {
  using enum Stop;
  using enum Answer;
  std::vector<Stop> const no_solution{stagnated, breakdown, false_convergence, diverged};
  auto const solved = [](std::string name, char const* methods, std::function<Problem()> make,
                         Index most) {
    return Case{
        "multigrid_" + name, methods, std::move(make), {converged}, {}, solution, {}, 30, most};
  };
  std::vector<Case> cases{
      solved(
          "grid", symmetric, [] { return regular(grid()); }, 25),
      solved(
          "of_16_bits", symmetric, [] { return regular(grid(), {.values = AmgValues::f16}); }, 25),
      solved(
          "by_k_cycles", "cg fgmres",
          [] { return regular(grid(), {.cycle = AmgCycleKind::k, .smoothing = false}); }, 25),
      solved(
          "unsmoothed", symmetric,
          [] { return regular(grid(), {.unsmoothed = 1, .values = AmgValues::f16}); }, 40),
      solved(
          "by_spai0", symmetric, [] { return regular(grid(), {.smoother = AmgSmoother::spai0}); },
          25),
      solved(
          "convection", general, [] { return regular(convection()); }, 25),
      {"multigrid_neumann", symmetric, [] { return consistent(neumann()); }, {converged}},
      {"multigrid_neumann_inconsistent", "cg gmres fgmres",
       [] { return with(neumann(), random_column(side * side, 43)); }, no_solution},
      {"multigrid_empty_rows",
       symmetric,
       [] {
         return consistent(beside(neumann(), diagonal({0, 0, 7, 0, 2})));
       },
       {converged}},
      solved(
          "decoupled", symmetric,
          [] { return regular(beside(grid(), beside(1e3 * grid(), laplace(9)))); }, 40),
      solved(
          "diagonal", symmetric, [] { return regular(Column::LinSpaced(40, 1, 40).asDiagonal()); },
          40),
      {"multigrid_few_eigenvalues", symmetric, [] { return consistent(cliques()); }, {converged}},
      {"multigrid_no_rows", "cg gmres fgmres", [] { return regular(Matrix(0, 0)); }, {converged}},
      solved(
          "one_row", symmetric, [] { return regular(diagonal({4})); }, 2),
      solved(
          "inverted", symmetric, [] { return regular(grid(), {.coarse_size = 500}); }, 5),
      solved(
          "zero_rotations", symmetric,
          [] {
            return regular(grid(), {.near_nullspace = {
                                        .block = 2, .points = points([](Index) { return 1.0; })}});
          },
          60),
      solved(
          "wrong_coordinates", symmetric,
          [] {
            return regular(grid(), {.near_nullspace = {.block = 2, .points = points([](Index i) {
                                                                     return uniform(3, i);
                                                                   })}});
          },
          80),
      solved(
          "learned", symmetric,
          [] { return regular(grid(), {.near_nullspace = {.learn = 2}, .max_complexity = 6}); },
          25),
      solved(
          "positive_couplings", symmetric, [] { return regular(grid() * grid()); }, 120),
      solved(
          "not_to_be_coarsened", symmetric,
          [] {
            auto all = std::make_shared<std::vector<double>>();
            for (Index i = 0; i < 120; ++i) all->push_back(uniform(5, i));
            return regular(pairs(), {.near_nullspace = {.block = 3, .points = all}});
          },
          10),
      solved(
          "dense_row", symmetric, [] { return regular(arrow()); }, 60),
      solved(
          "large", symmetric, [] { return regular(0x1p300 * grid()); }, 25),
      solved(
          "small", symmetric, [] { return regular(0x1p-300 * grid()); }, 25),
      {"multigrid_of_another_matrix",
       "cg chronopoulos_gear pipelined_cg",
       [] {
         Problem p = regular(grid());  // M is definite, A is not
         p.A.diagonal().array() -= 1;
         return p;
       },
       {indefinite_operator}},
      // What LinearSolver refuses: what a method that is set up with it all the same ends as.
      {"multigrid_cg_on_convection",
       "cg",
       [] { return regular(convection()); },
       {max_iterations, stagnated, breakdown, diverged}},
      {"multigrid_of_another_matrix_minres",
       "minres gmres",
       [] {
         Problem p = regular(grid());
         p.A.diagonal().array() -= 1;
         return p;
       },
       {converged}},
      solved(
          "factored", symmetric,
          [] {
            AmgParams params{.max_levels = 2};
            params.coarse = AmgCoarse::direct;
            return regular(grid(), params);
          },
          25),
      {"multigrid_not_factored",
       symmetric,
       [] {
         AmgParams params{.max_levels = 2};
         params.coarse = AmgCoarse::direct;
         return with(neumann(), neumann() * random_column(side * side, 42), params);
       },
       {converged}},
  };
  for (Format const& format : formats()) {
    std::string const name = format.name;
    cases.push_back(solved(
        "in_" + name, "cg bicgstab",
        [name] {
          AmgParams params;
          params.format = name;
          return regular(grid(), params);
        },
        25));
  }
  return cases;
}

}  // namespace tcsolve::test
