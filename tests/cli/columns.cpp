// SPDX-License-Identifier: Apache-2.0
/// Several right-hand sides from the command line.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <algorithm>

namespace tcsolve::cli {
namespace {

constexpr char const* laplace = "problem: {generator: {type: poisson7, n: 6}, ";

TEST_F(Program, SolvesRandomColumnsTogetherOrInTurn) {
  std::string const rest = "rhs: {columns: 5}}\npreconditioner: {type: jacobi}\n";
  int before = 0;
  for (std::string const method : {"cg", "block_cg"}) {
    SCOPED_TRACE(method);
    Outcome const o =
        solve(laplace + rest + "solver: {type: " + method + "}\noutput: {solution: true}\n");
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.verdict().find("5 of 5 columns solved"), std::string::npos) << o.out;
    auto const r = result();
    ASSERT_EQ(r["columns"].size(), 5u);
    for (auto const& column : r["columns"]) EXPECT_LE(column["true_relative"], 1e-8);
    EXPECT_EQ(r["config"]["problem"]["columns"], 5);
    MatrixHeader const x = read_matrix_market_header(folder_ / "tcsolve-out/x.mtx");
    EXPECT_EQ(x.rows, 216);
    EXPECT_EQ(x.cols, 5);
    int const iterations = r["iterations"];
    if (before > 0) EXPECT_LT(iterations, before);
    before = iterations;
  }
}

TEST_F(Program, SolvesTheColumnsOfAFile) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 4\n3 3 8\n");
  write_text(folder_ / "b.mtx",
             "%%MatrixMarket matrix array real general\n3 2\n2\n4\n8\n0\n0\n0\n");
  ASSERT_EQ(solve("problem: {matrix: a.mtx, rhs: {file: b.mtx}}\nsolver: {type: block_cg}\n"
                  "output: {solution: true, solution_format: npy}\n")
                .code,
            0);
  auto const r = result();
  EXPECT_EQ(r["columns"][0]["outcome"], "converged");
  EXPECT_EQ(r["columns"][1]["iterations"], 0);
  EXPECT_EQ(r["files"]["solution"], "x.npy");
}

/// Columns of the inverse, by a block method and one after another.
TEST_F(Program, SolvesForColumnsOfTheIdentity) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n"
             "3 2 -1\n3 3 2\n");
  for (std::string const solver :
       {"preconditioner: {type: direct}\nsolver: {type: gmres, rtol: 1.0e-12}\n",
        "preconditioner: {type: jacobi}\nsolver: {type: block_cg, rtol: 1.0e-12}\n"}) {
    SCOPED_TRACE(solver);
    Outcome const o = solve(
        "problem: {matrix: a.mtx, rhs: {units: [3, 1, 3]}}\noutput: {solution: true}\n" + solver);
    ASSERT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_TRUE(has(o.out, "3 right-hand sides")) << o.out;
    Columns const x = read_columns_file(folder_ / "tcsolve-out" / "x.mtx", "x");
    ASSERT_EQ(x.cols, 3);
    std::vector<double> const wanted{0.25, 0.5, 0.75, 0.75, 0.5, 0.25, 0.25, 0.5, 0.75};
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(x.values[k], wanted[k], 1e-10);
    EXPECT_EQ(result()["config"]["problem"]["units"], (std::vector<int>{3, 1, 3}));
  }
}

/// Work is that of all columns, and so is an iteration's share of the seconds.
TEST_F(Program, WorkIsThatOfAllColumns) {
  std::string const rest = "rhs: {columns: 5}}\npreconditioner: {type: jacobi}\n";
  for (std::string const method : {"cg", "block_cg"}) {
    SCOPED_TRACE(method);
    ASSERT_EQ(solve(laplace + rest + "solver: {type: " + method + "}\n").code, 0);
    auto const r = result();
    int sum = 0, most = 0;
    for (auto const& column : r["columns"]) {
      sum += column["iterations"].get<int>();
      most = std::max(most, column["iterations"].get<int>());
    }
    int const iterations = method == "cg" ? sum : most;
    EXPECT_EQ(r["work"]["iterations"], iterations);
    EXPECT_EQ(r["work"]["products"], iterations);
    EXPECT_EQ(r["work"]["applications"], iterations);
    EXPECT_EQ(r["iterations"], most);
    EXPECT_NEAR(r["work"]["seconds_per_iteration"].get<double>() * iterations,
                r["seconds"]["solve"].get<double>(), 1e-9);
  }
  // `auto` sets up once for all of them.
  ASSERT_EQ(solve(laplace + std::string("rhs: {columns: 3}}\nsolver: {type: auto}\n"
                                        "preconditioner: {type: auto}\nbackend: host\n"))
                .code,
            0);
  auto const r = result();
  ASSERT_EQ(r["choices"].size(), 1u);
  EXPECT_EQ(r["choices"][0]["iterations"], r["work"]["iterations"]);
  EXPECT_GT(r["choices"][0]["setup_seconds"], 0);
}

TEST_F(Program, TheWorstColumnDecides) {
  Outcome const o =
      solve(std::string(laplace) + "rhs: {columns: 2}}\nsolver: {type: block_cg, max_iters: 2}\n");
  EXPECT_EQ(o.code, 3);
  EXPECT_NE(o.verdict().find("0 of 2 columns solved; column 1: block_cg: max_iterations"),
            std::string::npos)
      << o.out;
}

}  // namespace
}  // namespace tcsolve::cli
