// SPDX-License-Identifier: Apache-2.0
/// What one call may ask for: A^T, a tolerance and limits of its own, a guess of 0.
#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <tcsolve/api/report_json.hpp>
#include <tcsolve/api/transposed_system.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tests/api/systems.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve {
namespace {

using testing::HasSubstr;
using testing::Not;

Csr<double> flow(Index n = 12) { return generate(ConvdiffParams{.n = n}); }

std::vector<double> numbers(Index n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + std::sin(static_cast<double>(i));
  return b;
}

/// ||b - A^T x|| / ||b||, by the entries of A.
double transposed_residual(Csr<double> const& a, std::vector<double> const& b,
                           std::vector<double> const& x) {
  std::vector<double> r = b;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      r[static_cast<std::size_t>(a.columns[k])] -= a.values[k] * x[static_cast<std::size_t>(i)];
  double rr = 0, bb = 0;
  for (std::size_t i = 0; i < r.size(); ++i) rr += r[i] * r[i], bb += b[i] * b[i];
  return std::sqrt(rr / bb);
}

/// Solves with A^T, then with that of other values on the same pattern.
void expect_transposed_solves(std::string const& yaml) {
  Csr<double> a = flow();
  SolverOptions const options = SolverOptions::from_yaml("backend: host\n" + yaml);
  LinearSolver solver(options);
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  ASSERT_TRUE(solver.solve(b, y).solved());
  EXPECT_EQ(solver.setup_report().transposed, "");
  SolveReport const first = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(first.solved()) << first.message;
  EXPECT_GT(first.setup_seconds, 0);
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("a second set-up: "));
  EXPECT_GT(solver.setup_report().transpose, 0);

  // No multiples of the old ones: a gather from the wrong entries would show.
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] *= 1 + 0.1 * std::cos(double(k));
  solver.update_values(a.view());
  SolveReport const second = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(second.solved()) << second.message;
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
  ASSERT_TRUE(solver.solve(b, y).solved());

  // The same bits as those of a solver of A^T, unless M is the transpose of A's.
  if (solver.setup_report().transposed.find("transposed(") != std::string::npos) return;
  Csr<double> const at = transpose(a.view());
  LinearSolver direct(at.view(), options);
  std::vector<double> here(b.size()), there(b.size());
  solver.set_matrix(a.view());
  EXPECT_EQ(solver.solve(b, here, {.transpose = true}).iterations,
            direct.solve(b, there).iterations);
  EXPECT_EQ(here, there);
}

TEST(TransposedSolve, OfEveryFormat) {
  int tried = 0;
  for (std::string const& format : solver_registries().operators.names()) {
    SCOPED_TRACE(format);
    std::string const yaml = "solver: {type: bicgstab}\noperator: {format: " + format + "}";
    try {
      LinearSolver const admits(flow().view(), SolverOptions::from_yaml("backend: host\n" + yaml));
    } catch (Error const&) { continue; }  // a format of narrower values alone, or of a device
    expect_transposed_solves(yaml);
    ++tried;
  }
  EXPECT_GE(tried, 6);
}

TEST(TransposedSolve, OfAReorderedMatrix) {
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {format: csr, reorder: rcm}");
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {reorder: rcm}");
}

TEST(TransposedSolve, OfNarrowerValuesRefersToThoseGiven) {
  expect_transposed_solves("solver: {type: bicgstab}\noperator: {format: csr, values: fp32}");
}

TEST(TransposedSolve, HasItsOwnPreconditioner) {
  int tried = 0;
  for (std::string const& M : solver_registries().preconditioners.names()) {
    SCOPED_TRACE(M);
    std::string yaml = cat("solver: {type: gmres}\npreconditioner: {type: ", M, "}");
    if (M == "column_scaling" || M == "normal_ic") continue;  // of A^T A, for lsmr
    if (M == "solver")
      yaml =
          "solver: {type: fgmres}\n"
          "preconditioner: {type: solver, solver: {type: gmres, max_iters: 5}}";
    try {
      LinearSolver const admits(flow().view(), SolverOptions::from_yaml("backend: host\n" + yaml));
    } catch (Error const&) { continue; }  // for a symmetric A
    expect_transposed_solves(yaml);
    ++tried;
  }
  EXPECT_GE(tried, 9);
  expect_transposed_solves("solver: {type: auto}\npreconditioner: {type: auto}");
}

TEST(TransposedSolve, FollowsMOfTheMatrix) {
  Csr<double> a = flow();
  LinearSolver solver(SolverOptions::from_yaml(
      "{backend: host, solver: {type: gmres}, preconditioner: {type: ilu}}"));
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  for (int step = 0; step < 4; ++step) {
    if (step == 2) {
      Csr<double> const other = flow(9);  // another size, and then back
      solver.set_matrix(other.view());
      std::vector<double> const b9 = numbers(other.rows);
      std::vector<double> x9(b9.size());
      EXPECT_TRUE(solver.solve(b9, x9, {.transpose = true}).solved());
      EXPECT_LE(transposed_residual(other, b9, x9), 1.01e-8);
      solver.set_matrix(a.view());
    }
    SolveReport const report = solver.solve(b, x, {.transpose = true, .zero_guess = true});
    EXPECT_TRUE(report.solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    LinearSolver fresh(a.view(), solver.options());  // has M of these values
    std::vector<double> y(b.size());
    EXPECT_EQ(fresh.solve(b, y, {.transpose = true}).iterations, report.iterations);
    EXPECT_EQ(x, y);
    for (std::size_t k = 0; k < a.values.size(); ++k)
      a.values[k] *= 1 + 0.1 * std::sin(double(k) + step);
    solver.update_values(a.view());
  }
}

TEST(TransposedSolve, TakesMTransposedWhereThereIsOne) {
  auto const told = [](std::string const& options) {
    Csr<double> const a = flow();
    LinearSolver solver(SolverOptions::from_yaml("backend: host\n" + options));
    solver.set_matrix(a.view());
    std::vector<double> const b = numbers(a.rows);
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver.solve(b, x, {.transpose = true}).solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    return solver.setup_report().transposed;
  };
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}"),
              HasSubstr("csr with transposed(ilu"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: block_jacobi}"),
              HasSubstr("transposed(block_jacobi"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: jacobi}"),
              HasSubstr("with jacobi, that of A"));
  EXPECT_THAT(told("solver: {type: bicgstab}\npreconditioner: {type: jacobi}\n"
                   "operator: {format: csr, values: fp32}"),
              Not(HasSubstr("that of A")))
      << "by narrower products";
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}\nrenew: auto"),
              Not(HasSubstr("transposed(")));
  EXPECT_THAT(told("solver: {type: gmres}\npreconditioner: {type: ilu}\noperator: {reorder: rcm}"),
              Not(HasSubstr("transposed(")));
  EXPECT_THAT(told("solver: {type: gmres}"), Not(HasSubstr("transposed(")));
}

TEST(TransposedSolve, WithADiagonalIsInTheFormatOfTheMatrix) {
  Csr<double> const a = flow();
  std::vector<double> const b = numbers(a.rows);
  int tried = 0;
  for (std::string const& format : formats().names()) {
    SCOPED_TRACE(format);
    std::optional<LinearSolver> solver;
    try {
      solver.emplace(a.view(), SolverOptions::from_yaml(
                                   cat("{backend: host, solver: {type: bicgstab}, preconditioner: "
                                       "{type: jacobi}, operator: {format: ",
                                       format, "}}")));
    } catch (Error const&) { continue; }
    std::vector<double> x(b.size());
    EXPECT_TRUE(solver->solve(b, x, {.transpose = true}).solved());
    EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
    EXPECT_THAT(solver->setup_report().transposed,
                HasSubstr(cat("set-up: ", format, " with jacobi, that of A")));
    ++tried;
  }
  EXPECT_GE(tried, 6);
}

TEST(TransposedSolve, OfASymmetricMatrixIsThatOfTheMatrix) {
  Csr<double> a = generate(Poisson7Params{.n = 8});
  LinearSolver solver({.solver = "cg", .preconditioner = "jacobi", .backend = Backend::host});
  solver.set_matrix(a.view());
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  ASSERT_TRUE(solver.solve(b, x).converged());
  ASSERT_TRUE(solver.solve(b, y, {.transpose = true}).converged());
  EXPECT_EQ(x, y);
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("bit by bit"));
  // One bit in one triangle: A^T is another matrix.
  a.values[1] = std::nextafter(a.values[1], 0.0);
  solver.update_values(a.view());
  ASSERT_TRUE(solver.solve(b, y, {.transpose = true}).converged());
  EXPECT_THAT(solver.setup_report().transposed, HasSubstr("a second set-up"));

  LinearSolver told({.solver = "cg", .symmetric = Symmetry::yes, .backend = Backend::host});
  told.set_matrix(a.view());
  ASSERT_TRUE(told.solve(b, y, {.transpose = true}).converged());
  EXPECT_THAT(told.setup_report().transposed, HasSubstr("given as symmetric"));
}

TEST(TransposedSolve, OfARectangularMatrix) {
  // Underdetermined and of full rank: A^T x = b with b in its range has a solution.
  Csr<double> a;
  a.rows = 2, a.cols = 3, a.offsets = {0, 2, 4}, a.columns = {0, 1, 1, 2}, a.values = {1, 2, 3, 4};
  LinearSolver solver(a.view(), {.solver = "lsmr", .backend = Backend::host});
  std::vector<double> const b{1, 5, 4};  // A^T (1, 1)
  std::vector<double> x(2);
  SolveReport const report = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(report.solved()) << report.message;
  EXPECT_NEAR(x[0], 1, 1e-6);
  EXPECT_NEAR(x[1], 1, 1e-6);
}

TEST(TransposedSolve, IsRefusedWhereItCannotBe) {
  // Each row sums to 0, and each is scaled: A 1 = 0, and A^T has another nullspace.
  Csr<double> a;
  a.rows = a.cols = 40;
  for (Index i = 0; i < a.rows; ++i) {
    bool const left = i > 0, right = i + 1 < a.rows;
    if (left) a.columns.push_back(i - 1), a.values.push_back(-1 - i);
    a.columns.push_back(i), a.values.push_back((left + right) * (1 + i));
    if (right) a.columns.push_back(i + 1), a.values.push_back(-1 - i);
    a.offsets.push_back(a.entries());
  }
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolverOptions options{.solver = "gmres", .backend = Backend::host};
  options.nullspace.constant = true;
  LinearSolver with_nullspace(a.view(), options);
  EXPECT_THROW(with_nullspace.solve(b, x, {.transpose = true}), Unsupported);
  with_nullspace.solve(b, x);  // as ready as before

  Context ctx(Backend::host);
  auto const A = std::make_shared<FunctionOperator<double>>(
      a.rows, a.rows, [&](Context&, In<double> in, Out<double> out) {
        for (Index i = 0; i < in.rows; ++i) out.data[i] = 2 * in.data[i];
      });
  LinearSolver matrix_free(ctx, A, {.solver = "gmres"});
  EXPECT_THROW(matrix_free.solve(b, x, {.transpose = true}), Unsupported);
  EXPECT_TRUE(matrix_free.solve(b, x).converged());
}

TEST(TransposedSolve, TakesTheTransposesOfOperators) {
  Csr<double> const a = flow(6);
  Context ctx(Backend::host);
  auto const A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  LinearSolver solver(ctx, A, {.solver = "gmres", .preconditioner = "jacobi"});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolveReport const report = solver.solve(b, x, {.transpose = true});
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LE(transposed_residual(a, b, x), 1.01e-8);
}

class CallLimit : public testing::TestWithParam<char const*> {};

TEST_P(CallLimit, HasTheBitsOfASolverMadeWithThatKey) {
  Csr<double> const a = generate(Poisson7Params{.n = 10});
  std::string const type = GetParam();
  auto const options = [&](std::string const& keys) {
    return SolverOptions::from_yaml("{backend: host, solver: {type: " + type + keys + "}}");
  };
  LinearSolver solver(a.view(), options(""));
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x0(b.size());
  SolveReport const plain = solver.solve(b, x0);
  struct {
    std::string keys;
    SolveCall call;
  } const tried[] = {{", rtol: 1e-3", {.rtol = 1e-3}},
                     {", rtol: 0, atol: 1e-2", {.rtol = 0, .atol = 1e-2}},
                     {", max_iters: 5", {.max_iters = 5}},
                     {", rtol: 1e-11", {.rtol = 1e-11}}};
  for (auto const& [keys, call] : tried) {
    SCOPED_TRACE(keys);
    std::vector<double> x(b.size()), y(b.size());
    SolveReport const here = solver.solve(b, x, call);
    LinearSolver other(a.view(), options(keys));
    SolveReport const there = other.solve(b, y);
    EXPECT_EQ(here.outcome(), there.outcome());
    EXPECT_EQ(here.iterations, there.iterations);
    EXPECT_EQ(here.tolerance, there.tolerance);
    EXPECT_EQ(x, y);
  }
  // The next one goes by the options again.
  std::vector<double> x(b.size());
  SolveReport const again = solver.solve(b, x);
  EXPECT_EQ(again.tolerance, plain.tolerance);
  EXPECT_EQ(again.iterations, plain.iterations);
  EXPECT_EQ(x, x0);
}

INSTANTIATE_TEST_SUITE_P(Methods, CallLimit,
                         testing::Values("cg", "minres", "bicgstab", "gmres", "block_cg",
                                         "pseudo_block_cg", "auto"),
                         [](auto const& param) { return std::string(param.param); });

/// Of `auto` too, whichever of the two it is; and of all recipes together, not of each.
TEST(CallLimit, IsThatOfAllRecipes) {
  Csr<double> const a = test::beam();
  std::vector<double> const b = numbers(a.rows);
  for (std::string const yaml : {"solver: {type: cg}\npreconditioner: {type: auto}\n",
                                 "solver: {type: auto}\npreconditioner: {type: auto}\n"}) {
    LinearSolver solver =
        LinearSolver::from_yaml(a.view(), cat(yaml, "operator: {format: csr}\nbackend: host\n"));
    std::vector<double> x(b.size());
    SolveReport r = solver.solve(b, x, {.rtol = 1e-14, .max_iters = 101});
    EXPECT_EQ(r.reason, Stop::max_iterations) << r.message;
    EXPECT_EQ(r.iterations, 101) << "100 of jacobi, one of ic";
    EXPECT_EQ(r.choices.size(), 2u);
    std::fill(x.begin(), x.end(), 0.0);
    r = solver.solve(b, x, {.rtol = 1e-3});
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_NEAR(r.tolerance, 1e-3 * r.rhs_norm, 1e-12 * r.rhs_norm);
    std::fill(x.begin(), x.end(), 0.0);
    r = solver.solve(b, x);
    EXPECT_TRUE(r.converged()) << r.message;
    EXPECT_LE(r.true_residual, 1e-8 * r.rhs_norm);
  }
}

TEST(CallLimit, OutOfRangeIsNamedAndChangesNothing) {
  Csr<double> const a = generate(Poisson7Params{.n = 4});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  EXPECT_THROW(solver.solve(b, x, {.rtol = 2.0}), ConfigError);
  EXPECT_THROW(solver.solve(b, x, {.max_iters = -3}), ConfigError);
  EXPECT_THROW(solver.solve(b, x, {.rtol = std::nan("")}), ConfigError);
  EXPECT_EQ(x, std::vector<double>(b.size()));
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_EQ(solver.solve(b, x, {.time_limit = 1e-9}).reason, Stop::converged);  // the guess was
}

TEST(CallLimit, IsThatOfTheColumnsAndOfATransposedSolve) {
  Csr<double> const a = flow();
  LinearSolver solver(a.view(), {.solver = "gmres", .backend = Backend::host});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolveReport const report = solver.solve(b, x, {.transpose = true, .max_iters = 3});
  EXPECT_EQ(report.reason, Stop::max_iterations);
  EXPECT_EQ(report.iterations, 3);
  Index const n = a.rows;
  MultiView<double const> const B{b.data(), n, 1, n, Layout::col_major, Space::host};
  MultiView<double> const X{x.data(), n, 1, n, Layout::col_major, Space::host};
  EXPECT_EQ(solver.solve_columns(B, X, {.max_iters = 2}).front().iterations, 2);
}

TEST(ZeroGuess, DoesNotReadX) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size(), std::numeric_limits<double>::quiet_NaN()), y(b.size());
  EXPECT_EQ(solver.solve(b, x).outcome(), "nonfinite:guess");
  EXPECT_TRUE(solver.solve(b, x, {.zero_guess = true}).converged());
  EXPECT_TRUE(solver.solve(b, y).converged());
  EXPECT_EQ(x, y);
}

TEST(ZeroGuess, DoesNotReadBlocksAndLeavesTheirGapsAlone) {
  Csr<double> const a = generate(Poisson7Params{.n = 4});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  Index const n = a.rows, k = 3, gap = 2;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (Layout const layout : {Layout::row_major, Layout::col_major})
    for (Index const more : {0, gap}) {
      Index const ld = (layout == Layout::row_major ? k : n) + more;
      std::vector<double> const b(static_cast<std::size_t>(n + gap) * (k + gap), 1.0);
      std::vector<double> x(b.size(), nan);
      In<double> const B{b.data(), n, k, ld, layout, Space::host};
      Out<double> const X{x.data(), n, k, ld, layout, Space::host};
      for (SolveReport const& r : solver.solve_columns(B, X, {.zero_guess = true}))
        EXPECT_TRUE(r.converged()) << r.message;
      std::size_t written = 0;
      for (double const v : x) written += !std::isnan(v);
      EXPECT_EQ(written, static_cast<std::size_t>(n) * k);
    }
}

TEST(Guess, IsWhereASolveBeginsAndXIsNotRead) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> guess = numbers(a.rows), x = guess;
  std::vector<double> y(b.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<double> const before = guess;
  SolveReport const inside = solver.solve(b, x);
  SolveReport const beside = solver.solve(b, y, {.guess = vector_view(guess.data(), a.rows)});
  EXPECT_TRUE(beside.converged()) << beside.message;
  EXPECT_EQ(beside.iterations, inside.iterations);
  EXPECT_EQ(y, x);
  EXPECT_EQ(guess, before);
  std::vector<double> again(b.size(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(solver.solve(b, again, {.guess = vector_view(x.data(), a.rows)}).iterations, 0)
      << "from the answer";
  EXPECT_EQ(again, x);
  SolveReport const in_place = solver.solve(b, guess, {.guess = vector_view(guess.data(), a.rows)});
  EXPECT_EQ(in_place.iterations, inside.iterations) << "x itself";
}

TEST(Guess, HasTheExtentsAndTheLayoutOfX) {
  Csr<double> const a = generate(Poisson7Params{.n = 4});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  Index const n = a.rows, k = 2;
  std::vector<double> const b(static_cast<std::size_t>(n) * k, 1.0);
  std::vector<double> x(b.size()), guess(b.size());
  for (Layout const layout : {Layout::row_major, Layout::col_major}) {
    Index const ld = layout == Layout::row_major ? k : n;
    In<double> const B{b.data(), n, k, ld, layout, Space::host};
    Out<double> const X{x.data(), n, k, ld, layout, Space::host};
    for (SolveReport const& r : solver.solve_columns(B, X)) ASSERT_TRUE(r.converged());
    guess = x;
    x.assign(x.size(), std::numeric_limits<double>::quiet_NaN());
    In<double> const G{guess.data(), n, k, ld, layout, Space::host};
    for (SolveReport const& r : solver.solve_columns(B, X, {.guess = G})) {
      EXPECT_TRUE(r.converged()) << r.message;
      EXPECT_EQ(r.iterations, 0);
    }
    Layout const other = layout == Layout::row_major ? Layout::col_major : Layout::row_major;
    In<double> const turned{guess.data(), n, k, n + k - ld, other, Space::host};
    EXPECT_THROW(solver.solve_columns(B, X, {.guess = turned}), Unsupported);
  }
  std::vector<double> short_x(static_cast<std::size_t>(n));
  EXPECT_THROW(solver.solve({b.data(), short_x.size()}, short_x,
                            {.guess = vector_view(guess.data(), n - 1)}),
               ShapeError);
}

TEST(SaidSymmetric, DecidesWhatAutoChooses) {
  Csr<double> a = generate(Poisson7Params{.n = 8});
  for (Index i = 0; i < a.rows; ++i)  // far from symmetric in some entries
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] > i && i % 50 == 0) a.values[k] *= 1.01;
  std::vector<double> const b = numbers(a.rows);
  auto const chosen = [&](Symmetry symmetric) {
    LinearSolver solver(a.view(), {.solver = "auto",
                                   .preconditioner = "auto",
                                   .symmetric = symmetric,
                                   .backend = Backend::host});
    std::vector<double> x(b.size());
    return solver.solve(b, x).choices.front().solver;
  };
  EXPECT_EQ(chosen(Symmetry::yes), "cg");
  EXPECT_NE(chosen(Symmetry::automatic), "cg");
  EXPECT_NE(chosen(Symmetry::no), "cg");
}

/// Complete factors of a symmetric A are those of Cholesky, of half its entries.
TEST(SaidSymmetric, IsWhatFactorsAreMadeFor) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  auto const bytes = [&](Symmetry symmetric) {
    LinearSolver const solver(a.view(), {.solver = "gmres",
                                         .preconditioner = "direct",
                                         .symmetric = symmetric,
                                         .backend = Backend::host});
    return solver.M()->cost(1).bytes;
  };
  EXPECT_EQ(bytes(Symmetry::yes), bytes(Symmetry::automatic));
  EXPECT_GT(bytes(Symmetry::no), 1.3 * bytes(Symmetry::yes));
}

TEST(ReportJson, SaysWhatTheReportSays) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  LinearSolver solver(a.view(), {.solver = "cg", .backend = Backend::host});
  std::vector<double> const b = numbers(a.rows);
  std::vector<double> x(b.size());
  SolveReport const report = solver.solve(b, x);
  auto const json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["outcome"], "converged");
  EXPECT_EQ(json["solved"], true);
  EXPECT_EQ(json["iterations"], report.iterations);
  EXPECT_EQ(json["residual"]["true"], report.true_residual);
  EXPECT_TRUE(json["residual"]["condition"].is_null());
  EXPECT_EQ(json["history"].size(), report.history.size());
  EXPECT_EQ(json["history"].back()[1], report.history.back().norm);
  EXPECT_EQ(json["message"], report.message);
  auto const setup = nlohmann::json::parse(to_json(solver.setup_report()));
  EXPECT_EQ(setup["format"], solver.format());
}

}  // namespace
}  // namespace tcsolve
