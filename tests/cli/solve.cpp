// SPDX-License-Identifier: Apache-2.0
/// A solve from the command line: exit codes, files, progress.
#include "tests/cli/program.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/heap.hpp"

#include <tcsolve/core/timed.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <sstream>

namespace tcsolve::cli {
namespace {

using testing::Test;

std::string matrix_text(std::string const& sizes, std::string const& entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + sizes + "\n" + entries;
}

TEST_F(Program, ConvergesAndSaysSoLast) {
  Outcome const o = solve(small_config);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.verdict().find("cg: converged after"), std::string::npos) << o.out;
  EXPECT_NE(o.verdict().find("error against the solution"), std::string::npos);
  EXPECT_TRUE(tidy());
}

TEST_F(Program, ComputesOnAsManyThreadsAsTheConfigSays) {
  for (std::string const count : {"1", "3"}) {
    ASSERT_EQ(solve(std::string(small_config) + "backend: host\nthreads: " + count + "\n").code, 0);
    std::string const device = result()["device"];
    EXPECT_EQ(device.find("host, " + count + " thread"), 0u) << device;
  }
}

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

TEST_F(Program, ConvertsInMidSolveWhereItMay) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, coefficient: random}, rhs: random}\n"
      "preconditioner: {type: jacobi}\nsolver: {type: cg, rtol: 1.0e-10}\n"
      "operator: {format: auto, conversion: lazy}\n";
  Outcome const refused = solve(config);
  EXPECT_EQ(refused.code, 1) << refused.err;
  EXPECT_NE(refused.err.find("deterministic: false"), std::string::npos) << refused.err;
  Outcome const o = solve(config + "deterministic: false\n");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("format: csr, "), std::string::npos) << o.err;
}

TEST_F(Program, AReorderedSolveAnswersInTheOrderGiven) {
  auto const x = [&](std::string const& keys) {
    Outcome const o = solve(
        "problem: {generator: {type: poisson27, n: 9, coefficient: random, renumber: random},"
        " rhs: random, x0: random}\n"
        "operator: {" +
        keys +
        "}\npreconditioner: {type: jacobi}\n"
        "solver: {type: cg, rtol: 1.0e-12}\noutput: {solution: true}\n");
    EXPECT_EQ(o.code, 0) << o.err;
    return read_vector(folder_ / "tcsolve-out/x.mtx");
  };
  std::vector<double> const given = x("format: csr");
  EXPECT_TRUE(result()["reordering"].is_null());
  std::string const converted =
      "format: " + test::converted_format().name + ", values: fp32, reorder: rcm";
  for (char const* keys :
       {"format: csr, reorder: rcm", converted.c_str(),
        "format: auto, reorder: auto, expected_applies: 1.0e7",
        "format: auto, values: fp32, reorder: rcm", "format: csr, reorder: none"}) {
    SCOPED_TRACE(keys);
    std::vector<double> const reordered = x(keys);
    ASSERT_EQ(reordered.size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) ASSERT_NEAR(reordered[i], given[i], 1e-9);
    if (std::string(keys).ends_with("none")) continue;
    auto const r = result();
    EXPECT_EQ(r["reordering"]["taken"], "rcm");
    EXPECT_LT(r["reordering"]["after"]["bandwidth"], r["reordering"]["before"]["bandwidth"]);
    EXPECT_GE(r["seconds"]["reorder"], 0);
  }
}

TEST_F(Program, AnOrderThatDoesNotPayIsNotMade) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, renumber: random}, rhs: random}\n"
      "solver: {type: cg}\noperator: ";
  for (char const* keys : {"{format: csr, reorder: auto}\n",
                           "{format: auto, reorder: auto, expected_applies: 20}\n"}) {
    Outcome const o = solve(config + keys);
    EXPECT_EQ(o.code, 0) << o.err;
    auto const r = result();
    EXPECT_EQ(r["reordering"]["taken"], "none") << keys;
    EXPECT_TRUE(r["reordering"]["before"].is_null());
    EXPECT_TRUE(r["reordering"]["after"].is_null());
  }
}

/// Blocks of rows are what the config says they are, also inside another preconditioner.
TEST_F(Program, AnOrderLeavesBlocksOfRowsTogether) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, renumber: random}, rhs: random}\n"
      "operator: {format: auto, expected_applies: 1.0e7}\n"
      "solver: {type: cg}\npreconditioner: ";
  for (auto const& [keys, taken] :
       {std::pair{"{type: jacobi}\n", "rcm"},
        {"{type: block_jacobi, block: 3}\n", "none"},
        {"{type: chebyshev, preconditioner: {type: block_jacobi}}\n", "none"}}) {
    Outcome const o = solve(config + keys);
    EXPECT_EQ(o.code, 0) << keys << o.err;
    EXPECT_EQ(result()["reordering"]["taken"], taken) << keys;
  }
}

TEST_F(Program, MetisOrdersOrSaysThatItIsNotBuilt) {
  Outcome const o = solve(std::string(small_config) + "operator: {format: csr, reorder: metis}\n");
  if (metis_built()) {
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(result()["reordering"]["taken"], "metis");
  } else {
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_NE(o.err.find("libmetis-dev"), std::string::npos) << o.err;
  }
}

TEST_F(Program, AReorderedMatrixMustBeSquare) {
  write_text(folder_ / "a.mtx", matrix_text("2 3 2", "1 1 1\n2 3 1\n"));
  Outcome const o = solve(
      "problem: {matrix: a.mtx}\noperator: {format: csr, reorder: rcm}\nsolver: {type: lsmr}\n");
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_NE(o.err.find("2 x 3"), std::string::npos) << o.err;
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

TEST_F(Program, MaxItersIsExitCode3) {
  Outcome const o = solve(small_config, {"--set", "solver.max_iters=2"});
  EXPECT_EQ(o.code, 3);
  EXPECT_NE(o.verdict().find("max_iterations"), std::string::npos) << o.out;
  EXPECT_NE(o.verdict().find("raise max_iters"), std::string::npos) << o.out;
  EXPECT_EQ(result()["verdict"]["exit_code"], 3);
}

TEST_F(Program, IndefiniteMatrixIsExitCode4AndWarned) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n2 2 -1\n"));
  Outcome const o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_NE(o.err.find("warning: cg needs a positive definite matrix; here a(2, 2) = -1"),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.verdict().find("minres"), std::string::npos);
  EXPECT_EQ(result()["warnings"].size(), 1u);
}

TEST_F(Program, NonsymmetricMatrixIsWarned) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 3", "1 1 4\n1 2 1\n2 2 3\n"));
  Outcome const o = solve("problem: {matrix: a.mtx}\nsolver: {type: minres}\n");
  EXPECT_NE(o.err.find("a(1, 2) = 1 but a(2, 1) = 0"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("gmres"), std::string::npos);
}

TEST_F(Program, FailingSetupIsExitCode4WithAResult) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 2 1\n2 1 1\n"));
  Outcome const o =
      solve("problem: {matrix: a.mtx}\npreconditioner: {type: jacobi}\nsolver: {type: gmres}\n");
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_EQ(result()["verdict"]["reason"], "setup_failed");
  EXPECT_TRUE(result()["residual"]["true"].is_null());
}

TEST_F(Program, NaNInTheRightHandSideIsValidJson) {
  write_text(folder_ / "b.txt", std::string("nan\n") + std::string(1, '1') + "\n");
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n2 2 1\n"));
  Outcome const o = solve("problem: {matrix: a.mtx, rhs: b.txt}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "nonfinite:rhs");
  EXPECT_TRUE(result()["residual"]["true"].is_null());
}

TEST_F(Program, BadInputIsExitCode2) {
  write_text(folder_ / "a.mtx", matrix_text("2 2 2", "1 1 1\n3 2 1\n"));
  Outcome o = solve("problem: {matrix: a.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("a.mtx:4:"), std::string::npos) << o.err;
  o = solve("problem:\n  matrix: none.mtx\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("my.yaml:2:11: 'matrix': there is no file none.mtx"), std::string::npos)
      << o.err;
}

TEST_F(Program, VectorOfAnotherLengthIsExitCode2) {
  write_text(folder_ / "b.txt", "1\n2\n3\n");
  Outcome const o =
      solve("problem: {generator: {type: poisson7, n: 2}, rhs: b.txt}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("has 3 rows; the matrix asks for 8 rows"), std::string::npos) << o.err;
}

TEST_F(Program, RectangularMatrixAsksForLsmr) {
  write_text(folder_ / "a.mtx", matrix_text("3 2 3", "1 1 1\n2 2 1\n3 1 1\n"));
  Outcome o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("lsmr"), std::string::npos) << o.err;
  o = solve("problem: {matrix: a.mtx, rhs: ones}\nsolver: {type: lsmr}\n");
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(Program, UnwritableOutputIsFoundBeforeTheSolve) {
  write_text(folder_ / "taken", "a file");
  Outcome const o = solve(small_config, {"--output", "taken"});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("taken"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("--output"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("iteration"), std::string::npos) << "the solve had begun";
}

TEST_F(Program, RefusesWhatCannotFit) {
  std::string const huge = "problem: {generator: {type: poisson27, n: 1200}}\nsolver: {type: cg}\n";
  for (Arguments const& flags : {Arguments{}, Arguments{"--dry-run"}}) {
    Outcome const o = solve(huge, flags);
    EXPECT_EQ(o.code, 5);
    EXPECT_NE(o.err.find("needs about"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("are available"), std::string::npos) << o.err;
    EXPECT_NE(o.out.find("memory: host"), std::string::npos) << "the estimate is stated";
  }
  EXPECT_EQ(solve("problem: {generator: {type: poisson27, n: 1291}}\nsolver: {type: cg}\n").code, 1)
      << "2^31 rows: out of the range of n";
}

TEST_F(Program, MixedPrecisionConvergesInTheFp64System) {
  for (std::string const values : {"fp16", "bf16"}) {
    SCOPED_TRACE(values);
    ASSERT_EQ(solve(small_config, {"--set", "operator={format: csr, values: " + values + "}",
                                   "--set", "solver.rtol=1e-11"})
                  .code,
              0);
    EXPECT_LE(result()["residual"]["true_relative"], 1e-11);
    std::string const history = read_text(folder_ / "tcsolve-out/history.csv");
    EXPECT_NE(history.find(",update"), std::string::npos) << "r was made anew";
  }
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

TEST_F(Program, AnOperatorWithoutAFormatIsThatOfAuto) {
  Outcome const o = solve(small_config, {"--set", "operator.values=fp32"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["operator"]["format"], "auto");
  EXPECT_EQ(result()["config"]["operator"]["values"], "fp32");
}

TEST_F(Program, ProgressIsThatOfTheOuterSolver) {
  Outcome const o = solve(
      "problem: {generator: {type: poisson7, n: 8}, rhs: random}\nsolver: {type: fgmres}\n"
      "preconditioner: {type: solver, solver: {type: cg, max_iters: 5}}\n");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("fgmres: iteration 1 "), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("cg: iteration"), std::string::npos) << o.err;
}

TEST_F(Program, TheVerdictRepeatsWhatWasWarnedOf) {
  Outcome const o =
      solve("problem: {generator: {type: convdiff, n: 8}}\nsolver: {type: cg, max_iters: 20}\n");
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_NE(o.verdict().find("before the solve: cg needs a symmetric matrix"), std::string::npos)
      << o.verdict();
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

TEST_F(Program, WhatAPreconditionerTakesForGrantedIsLookedAt) {
  std::string const inner =
      "problem: {generator: {type: poisson7, n: 6}}\n"
      "preconditioner: {type: solver, solver: {type: cg, max_iters: 3}}\n";
  std::string const warning = "needs a preconditioner that is the same linear map";
  Outcome o = solve(inner + "solver: {type: cg, beta: fixed, max_iters: 50}\n");
  EXPECT_NE(o.err.find("warning: cg " + warning), std::string::npos) << o.err;
  std::size_t const at = o.err.find(warning);
  EXPECT_EQ(o.err.find(warning, at + 1), std::string::npos) << "once: " << o.err;
  std::string const k_cycle =
      "problem: {generator: {type: poisson7, n: 8}}\n"
      "preconditioner: {type: amg, cycle: k, coarse_size: 20}\n";
  for (std::string const method : {"gmres", "bicgstab", "minres", "{type: cg, beta: fixed}"}) {
    o = solve(k_cycle + "solver: " + method + "\n");
    EXPECT_NE(o.err.find(warning), std::string::npos) << method << ": " << o.err;
    EXPECT_NE(result()["warnings"].dump().find("K cycle"), std::string::npos);
  }
  EXPECT_EQ(solve(k_cycle + "solver: cg\n").err.find(warning), std::string::npos);
  for (std::string const takes_any : {"fgmres", "cg"}) {
    o = solve(inner + "solver: {type: " + takes_any + "}\n");
    EXPECT_EQ(o.err.find(warning), std::string::npos) << o.err;
  }
  o = solve(
      "problem: {generator: {type: convdiff, n: 6}}\npreconditioner: {type: chebyshev}\n"
      "solver: {type: gmres}\n");
  EXPECT_NE(o.err.find("the preconditioner needs a symmetric matrix"), std::string::npos) << o.err;
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

/// Half of a symmetric matrix is in its file, the diagonal once.
TEST_F(Program, EntriesOfAFileAreABound) {
  write_text(folder_ / "s.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 -1\n2 2 4\n");
  Outcome const o = solve("problem: {matrix: s.mtx}\nsolver: {type: cg}\n");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("2 x 2, at most 6 entries"), std::string::npos) << o.out;
  EXPECT_EQ(result()["problem"]["entries"], 4);
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
