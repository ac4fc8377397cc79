// SPDX-License-Identifier: Apache-2.0
/// What one call may ask for beside A^T (transposed.cpp): a tolerance and limits of its own, a
/// guess of 0.
#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <tcsolve/api/report_json.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tests/api/flow.hpp>
#include <tests/api/systems.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve {
namespace {

using testing::HasSubstr;
using testing::Not;

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
