// SPDX-License-Identifier: Apache-2.0
/// What a run writes of itself: result.json, the history, the profile, the solution.
#include "tests/cli/program.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/heap.hpp"

#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <sstream>

namespace tcsolve::cli {
namespace {

TEST_F(Program, WritesTheResult) {
  ASSERT_EQ(solve(small_config).code, 0);
  auto const r = result();
  ASSERT_TRUE(r.is_object());
  EXPECT_EQ(r["schema"], 6);
  EXPECT_EQ(r["verdict"]["outcome"], "converged");
  EXPECT_EQ(r["verdict"]["reason"], "converged");
  EXPECT_EQ(r["verdict"]["exit_code"], 0);
  EXPECT_GT(r["iterations"], 3);
  EXPECT_LE(r["residual"]["true_relative"], 1e-8);
  EXPECT_LE(r["residual"]["recurrence"], r["residual"]["tolerance"]);
  EXPECT_LT(r["residual"]["backward_error"], 1e-8);
  EXPECT_GT(r["residual"]["attainable"], 0);
  EXPECT_LT(r["solution_error"], 1e-6);
  EXPECT_EQ(r["problem"]["rows"], 512);
  EXPECT_EQ(r["problem"]["entries"], 7 * 512 - 6 * 64);
  EXPECT_EQ(r["problem"]["source"], "generator poisson7");
  for (char const* phase :
       {"read", "upload", "plan", "reorder", "convert", "setup", "solve", "verify", "total"})
    EXPECT_GE(r["seconds"][phase], 0) << phase;
  auto const& traffic = r["traffic_estimate"];
  EXPECT_GT(traffic["bytes_per_iteration"], 12 * 3200);
  EXPECT_GT(traffic["bytes"], r["iterations"].get<double>() * 12 * 3200);
  // 512 rows stay in any cache.
  EXPECT_TRUE(traffic["measured_bandwidth"].is_null());
  EXPECT_TRUE(traffic["fraction_of_bandwidth"].is_null());
  auto const& work = r["work"];
  EXPECT_EQ(work["products"], r["iterations"]);
  EXPECT_EQ(work["applications"], r["iterations"]);
  EXPECT_GE(work["residuals"], 2);  // before and after
  EXPECT_EQ(work["inner_iterations"], 0);
  EXPECT_TRUE(std::set<std::string>({"eager", "graph", "persistent"}).contains(work["execution"]));
  auto const& memory = r["memory"];
  EXPECT_GT(memory["host_predicted"], 12 * 3200);
  EXPECT_GT(memory["host_peak"], 1e6);
  EXPECT_GE(memory["operator"], 4 * 3200);  // half of a symmetric matrix
  EXPECT_GE(memory["stored_per_entry"], 0.5);
  EXPECT_EQ(r["problem"]["hash"].get<std::string>().size(), 32);
  EXPECT_TRUE(r["versions"]["tcsolve"].is_string());
  EXPECT_TRUE(r["device"].is_string());
  EXPECT_EQ(r["config"]["solver"]["type"], "cg");
  EXPECT_EQ(r["config"]["solver"]["max_iters"], 1000);
  EXPECT_EQ(r["config"]["operator"]["format"], "auto");
  EXPECT_NE(formats().find(r["format"].get<std::string>()), nullptr) << r["format"];
}

/// Seconds of the history rise from 0 to those of the solve, and all else is the same in every run.
TEST_F(Program, TheHistoryHasSecondsAndTrueResiduals) {
  std::string const config =
      "problem: {generator: {type: convdiff, n: 12, velocity: 10}, rhs: random}\n"
      "solver: {type: gmres, restart: 5, rtol: 1.0e-10}\n";
  struct Row {
    int iteration;
    double residual, seconds;
    std::string true_residual, mark;
  };
  auto const history = [&] {
    EXPECT_EQ(solve(config).code, 0);
    std::istringstream lines(read_text(folder_ / "tcsolve-out/history.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "iteration,residual,rate,seconds,true_residual,mark");
    std::vector<Row> rows;
    while (std::getline(lines, line)) {
      std::vector<std::string> cells(1);
      for (char const c : line)
        if (c == ',')
          cells.emplace_back();
        else
          cells.back() += c;
      EXPECT_EQ(cells.size(), 6u) << line;
      if (cells.size() != 6) continue;
      double const residual = std::stod(cells[1]);
      if (!rows.empty())
        EXPECT_NEAR(std::stod(cells[2]), residual / rows.back().residual, 1e-2) << line;
      rows.push_back({std::stoi(cells[0]), residual, std::stod(cells[3]), cells[4], cells[5]});
    }
    return rows;
  };
  std::vector<Row> const first = history(), again = history();
  auto const r = result();
  ASSERT_EQ(first.size(), again.size());
  ASSERT_EQ(static_cast<int>(first.size()), r["iterations"].get<int>() + 1);
  int restarts = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].iteration, static_cast<int>(i));
    EXPECT_EQ(first[i].residual, again[i].residual);
    EXPECT_EQ(first[i].true_residual, again[i].true_residual);
    EXPECT_EQ(first[i].mark, again[i].mark);
    if (i > 0) EXPECT_GE(again[i].seconds, again[i - 1].seconds);
    restarts += first[i].mark == "restart";
    // A cycle of five ends where its true residual is looked at.
    if (i > 0 && i % 5 == 0)
      EXPECT_NEAR(std::stod(first[i].true_residual), first[i].residual, 1e-4 * first[i].residual);
    if (i % 5 != 0 && i + 1 < first.size()) EXPECT_EQ(first[i].true_residual, "");
  }
  EXPECT_EQ(restarts, r["restarts"].get<int>());
  EXPECT_LE(again.back().seconds, 1.01 * r["seconds"]["solve"].get<double>());
  EXPECT_GT(again.back().seconds, 0);
}

/// The parts of a profiled solve add up to it, and count what the solver counts.
TEST_F(Program, ProfilesTheSolveByParts) {
  std::string const system =
      "problem: {generator: {type: poisson7, n: 20, coefficient: random}, rhs: random}\n"
      "backend: host\n";
  for (auto const& [solver, preconditioner] :
       {std::pair{"{type: cg}", "{type: jacobi}"},
        {"{type: cg}", "{type: ic}"},
        {"{type: cg}", "{type: chebyshev}"},
        {"{type: bicgstab}", "{type: ilu}"},
        {"{type: gmres}", "{type: block_jacobi, block: 4}"},
        {"{type: fgmres}", "{type: solver, solver: {type: cg, max_iters: 3}}"}}) {
    SCOPED_TRACE(std::string(solver) + " " + preconditioner);
    std::string const config =
        system + "solver: " + solver + "\npreconditioner: " + preconditioner + "\n";
    ASSERT_EQ(solve(config).code, 0);
    auto const plain = result();
    EXPECT_TRUE(plain["profile"].is_null());
    Outcome const o = solve(config, {"--profile"});
    ASSERT_EQ(o.code, 0) << o.err;
    auto const r = result();
    EXPECT_EQ(r["iterations"], plain["iterations"]);
    EXPECT_EQ(r["residual"]["true"], plain["residual"]["true"]) << "the same bits";
    auto const& p = r["profile"];
    double sum = 0, shares = 0;
    for (auto const& [name, part] : p.items()) {
      sum += part["seconds"].get<double>();
      shares += part["share"].get<double>();
      EXPECT_TRUE(has(o.out, "  " + name)) << o.out;
    }
    double const seconds = r["seconds"]["solve"];
    EXPECT_NEAR(sum, seconds, 0.02 * seconds);
    EXPECT_NEAR(shares, 1, 0.02);
    // A run may be over a step before it is told.
    EXPECT_GE(p["products"]["calls"], r["work"]["products"]);
    EXPECT_LE(p["products"]["calls"].get<double>(), r["work"]["products"].get<double>() + 6);
    EXPECT_GT(p["products"]["bytes_per_second"], 1e6);
    EXPECT_GE(p["verification"]["calls"], r["work"]["residuals"]);
    bool const folded = std::string(preconditioner) == "{type: jacobi}";
    if (folded) {
      EXPECT_EQ(p["preconditioner"]["calls"], 0);
    } else {
      EXPECT_GE(p["preconditioner"]["calls"], r["work"]["applications"]);
      EXPECT_LE(p["preconditioner"]["calls"].get<double>(),
                r["work"]["applications"].get<double>() + r["restarts"].get<double>() + 6);
      EXPECT_GT(p["preconditioner"]["seconds"], 0);
    }
    EXPECT_GT(p["updates"]["seconds"], 0);
    EXPECT_GT(p["verification"]["seconds"], 0);
  }
}

TEST_F(Program, WritesOneHistoryRowForEachIteration) {
  ASSERT_EQ(solve(small_config).code, 0);
  std::string const text = read_text(folder_ / "tcsolve-out/history.csv");
  EXPECT_TRUE(text.starts_with("iteration,residual,rate,seconds,true_residual,mark\n0,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') - 2, result()["iterations"].get<int>());
}

TEST_F(Program, WritesTheSolution) {
  ASSERT_EQ(solve(small_config, {"--set", "output.solution=true"}).code, 0);
  auto const a = generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random});
  auto const x = read_vector(folder_ / "tcsolve-out/x.mtx");
  ASSERT_EQ(x.size(), 512u);
  double rr = 0, bb = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double ax = 0, b = 0;
    for (std::size_t k = 0; k < a.row_columns(i).size(); ++k) {
      b += a.row_values(i)[k];
      ax += a.row_values(i)[k] * x[static_cast<std::size_t>(a.row_columns(i)[k])];
    }
    rr += (b - ax) * (b - ax);
    bb += b * b;
  }
  EXPECT_LE(std::sqrt(rr / bb), 1.01e-8);
}

TEST_F(Program, LeavesOutWhatIsNotWanted) {
  ASSERT_EQ(solve(std::string(small_config) + "output: {history: false, bandwidth: false}\n").code,
            0);
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/history.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/x.mtx"));
}

/// The record of a run, and what a dry run prints, are configs that run again.
TEST_F(Program, WhatARunRecordsRunsAgain) {
  Outcome o = solve(small_config);
  ASSERT_EQ(o.code, 0) << o.err;
  auto const first = result();
  write_text(folder_ / "again.json", first["config"].dump());
  o = tcsolve({"again.json", "--backend", "host"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["solver"], first["config"]["solver"]);
  EXPECT_EQ(result()["iterations"], first["iterations"]);
  o = tcsolve({"my.yaml", "--dry-run"});
  write_text(folder_ / "dry.yaml", o.out);
  o = tcsolve({"dry.yaml", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["iterations"], first["iterations"]);
}

/// An operator of 512 rows in fgmres, each application so many steps of cg.
TEST_F(Program, TheWorkOfInnerSolversIsCounted) {
  std::string const config =
      "problem: {generator: {type: poisson7, n: 8}, rhs: random}\n"
      "operator: {format: csr}\n"
      "preconditioner: {type: solver, solver: {type: cg, rtol: 0, max_iters: 3}}\n"
      "solver: {type: fgmres, rtol: 1.0e-8}\n";
  ASSERT_EQ(solve(config).code, 0);
  auto const r = result();
  double const outer = r["iterations"];
  EXPECT_EQ(r["work"]["inner_iterations"], 3 * outer);
  double const plain = r["traffic_estimate"]["bytes_per_iteration"].get<double>() * outer;
  double const csr = 12 * 3200;  // of a product, at least
  EXPECT_GT(r["traffic_estimate"]["bytes"], plain + 3 * outer * csr);
}

/// The same matrix has the same hash, whatever it comes from; another has another.
TEST_F(Program, TheHashIsThatOfTheMatrix) {
  ASSERT_EQ(tcsolve({"generate", "poisson7", "--set", "n=5", "-o", "a.mtx"}).code, 0);
  auto const hash = [&](std::string const& problem) {
    EXPECT_EQ(solve("problem: " + problem + "\nsolver: {type: cg}\n").code, 0);
    return result()["problem"]["hash"].get<std::string>();
  };
  std::string const generated = hash("{generator: {type: poisson7, n: 5}}");
  EXPECT_EQ(hash("{matrix: a.mtx}"), generated);
  std::string text = read_text(folder_ / "a.mtx");
  text.replace(text.rfind("6"), 1, "7");
  write_text(folder_ / "a.mtx", text);
  EXPECT_NE(hash("{matrix: a.mtx}"), generated);
}

TEST_F(Program, PhasesSumToTheWallTime) {
  auto const began = std::chrono::steady_clock::now();
  ASSERT_EQ(solve(small_config).code, 0);
  double const wall = seconds_since(began);
  auto const r = result();
  double sum = 0;
  for (auto const& [phase, seconds] : r["seconds"].items()) {
    EXPECT_GE(seconds, 0) << phase;
    if (phase != "total") sum += seconds.get<double>();
  }
  EXPECT_NEAR(sum, r["seconds"]["total"], 1e-9);
  EXPECT_LE(sum, wall + 0.02);
  if (!test::sanitized()) EXPECT_GE(sum, 0.5 * wall);  // a sanitizer takes as long to start
  EXPECT_EQ(r["process"]["command"][1], "my.yaml");
  EXPECT_TRUE(r["process"]["date"].get<std::string>().ends_with("Z"));
}

}  // namespace
}  // namespace tcsolve::cli
