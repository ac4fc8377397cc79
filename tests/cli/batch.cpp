// SPDX-License-Identifier: Apache-2.0
/// Many small systems from the command line.
#include "tests/cli/program.hpp"

#include <tcsolve/io/matrix_market.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace tcsolve::cli {
namespace {

class ManySystems : public Program {
 protected:
  /// The lines of systems.csv by their column names.
  std::vector<std::map<std::string, std::string>> lines() const {
    std::istringstream text(read_text(folder_ / "tcsolve-out/systems.csv"));
    std::vector<std::map<std::string, std::string>> all;
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);) {
      std::vector<std::string> cells;
      std::istringstream row(line);
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
      if (names.empty()) {
        names = cells;
        continue;
      }
      auto& last = all.emplace_back();
      for (std::size_t k = 0; k < names.size(); ++k)
        last[names[k]] = k < cells.size() ? cells[k] : "";
    }
    return all;
  }
};

constexpr char const* method =
    "solver: {type: bicgstab, rtol: 1e-9}\npreconditioner: {type: jacobi}\nbackend: host\n";

/// As the program solves each of them alone, with its part of b.
TEST_F(ManySystems, AreSolvedAsOneByOne) {
  std::string const generator = "{type: convdiff, n: 4, coefficient: random, seed: ";
  Outcome o = solve(cat("problem: {batch: {generator: ", generator, "7}, count: 5}}\n", method,
                        "output: {solution: true}\n"));
  ASSERT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_TRUE(has(o.verdict(), "5 of 5 systems converged; system ")) << o.verdict();
  auto const r = result();
  EXPECT_EQ(r["problem"]["source"], "5 systems of generator convdiff");
  EXPECT_EQ(r["problem"]["rows"], 5 * 64);
  EXPECT_EQ(r["systems"]["count"], 5);
  EXPECT_EQ(r["systems"]["converged"], 5);
  EXPECT_EQ(r["systems"]["outcomes"]["converged"], 5);
  EXPECT_LE(r["systems"]["largest_relative_residual"], 1e-9);
  EXPECT_LE(r["solution_error"], 1e-6) << "A (1, ..., 1)";
  EXPECT_EQ(r["files"]["systems"], "systems.csv");
  EXPECT_TRUE(r["files"]["history"].is_null());
  auto const each = lines();
  ASSERT_EQ(each.size(), 5u);
  int sum = 0, most = 0;
  for (auto const& line : each) {
    EXPECT_EQ(line.at("rows"), "64");
    EXPECT_EQ(line.at("outcome"), "converged");
    sum += std::stoi(line.at("iterations"));
    most = std::max(most, std::stoi(line.at("iterations")));
  }
  EXPECT_EQ(r["systems"]["iterations"]["sum"], sum);
  EXPECT_EQ(r["systems"]["iterations"]["most"], most);
  EXPECT_EQ(r["work"]["iterations"], sum);
  EXPECT_EQ(r["iterations"],
            std::stoi(each[r["systems"]["worst"].get<std::size_t>() - 1].at("iterations")));
  for (int k = 0; k < 5; ++k) {
    ASSERT_EQ(solve(cat("problem: {generator: ", generator, 7 + k, "}}\n", method)).code, 0);
    auto const one = result();
    EXPECT_NEAR(one["iterations"].get<double>(), std::stod(each[k].at("iterations")),
                2 + 0.3 * one["iterations"].get<double>());
    EXPECT_NEAR(one["residual"]["rhs_norm"].get<double>(), std::stod(each[k].at("rhs_norm")), 1e-9)
        << "the seed of system " << k;
    EXPECT_TRUE(one["systems"].is_null());
    EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/systems.csv")) << "of an older run";
  }
}

TEST_F(ManySystems, AreReadFromFilesAndFolders) {
  fs::create_directory(folder_ / "many");
  for (auto const& [name, n] : {std::pair{"c", 3}, {"a", 2}, {"b", 4}})
    ASSERT_EQ(
        tcsolve({"generate", "poisson7", "--set", cat("n=", n), "-o", cat("many/", name, ".mtx")})
            .code,
        0);
  write_text(folder_ / "many/notes.txt", "no matrix\n");
  auto const rows = [&](std::string const& batch) {
    Outcome const o = solve(cat("problem: {batch: ", batch, "}\n", method));
    EXPECT_EQ(o.code, 0) << o.err << o.out;
    std::string text;
    for (auto const& line : lines()) text += line.at("rows") + " ";
    return text;
  };
  EXPECT_EQ(rows("[many/c.mtx, many/b.mtx]"), "27 64 ");
  EXPECT_EQ(rows("many"), "8 64 27 ") << "by their names";
  EXPECT_EQ(rows("{files: [many, many/a.mtx]}"), "8 64 27 8 ");
  EXPECT_EQ(result()["problem"]["source"], "4 systems from files");
}

/// The exit code is the worst one, and a system that fails leaves the others alone.
TEST_F(ManySystems, TheWorstDecides) {
  write_text(folder_ / "good.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3\n");
  write_text(folder_ / "bad.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 -3\n");
  Outcome const o = solve(
      "problem: {batch: [good.mtx, bad.mtx, good.mtx], rhs: ones}\nsolver: {type: cg}\n"
      "output: {report: false, solution: true}\nbackend: host\n");
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_TRUE(has(o.verdict(), "2 of 3 systems converged; system 2: cg: indefinite_operator"))
      << o.verdict();
  auto const r = result();
  EXPECT_EQ(r["verdict"]["exit_code"], 4);
  EXPECT_EQ(r["systems"]["worst"], 2);
  EXPECT_EQ(r["systems"]["outcomes"]["converged"], 2);
  EXPECT_EQ(r["systems"]["outcomes"]["indefinite_operator"], 1);
  auto const x = read_vector(folder_ / "tcsolve-out/x.mtx");
  ASSERT_EQ(x.size(), 6u);
  EXPECT_NEAR(x[0], 0.5, 1e-8);
  EXPECT_NEAR(x[5], 1 / 3., 1e-8);
}

TEST_F(ManySystems, VaryAnyIntegerOfTheGenerator) {
  Outcome o = solve(
      cat("problem: {batch: {generator: {type: poisson7, n: 2}, count: 3, vary: n}}\n", method));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["problem"]["rows"], 8 + 27 + 64);
  o = solve(cat("problem: {batch: {generator: poisson7, vary: velocity}}\n", method));
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "has no integer key 'velocity'; it has n, seed")) << o.err;
  o = solve(
      cat("problem: {batch: {generator: {type: poisson7, n: 1289}, count: 3, vary: n}}\n", method));
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "'n' = 1291 is outside [1, 1290]")) << o.err;
}

TEST_F(ManySystems, WhatDoesNotGoTogetherIsRefused) {
  auto const refused = [&](std::string const& problem, std::string const& rest,
                           std::string const& words, int code = 1) {
    Outcome const o = solve("problem: " + problem + "\n" + rest, {"--backend", "host"});
    EXPECT_EQ(o.code, code) << problem << o.err << o.out;
    EXPECT_TRUE(has(o.err + o.out, words)) << o.err << o.out;
  };
  std::string const one = "{batch: {generator: {type: poisson7, n: 3}}}",
                    cg = "solver: {type: cg}\n";
  refused("{generator: poisson7, batch: {generator: poisson7}}", cg, "in the place of");
  refused("{batch: {count: 3}}", cg, "or a 'batch' of them");
  refused("{batch: {generator: poisson7}, rhs: {columns: 2}}", cg, "one right-hand side");
  refused("{batch: [nosuch.mtx]}", cg, "there is no file", 2);
  refused(one, "solver: {type: minres}\n", "these do: cg, ");
  refused(one, cg + "preconditioner: {type: ic}\n", "these do: none, jacobi");
  refused(one, cg + "output: {plot: true}\n", "a 'batch' keeps none");
  fs::create_directory(folder_ / "empty");
  refused("{batch: empty}", cg, "there is no matrix in the folder", 2);
  // A dry run finds it, too.
  Outcome const o = solve("problem: " + one + "\nsolver: {type: minres}\n", {"--dry-run"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "these do: cg, ")) << o.err;
  EXPECT_EQ(solve("problem: " + one + "\n" + cg, {"--dry-run", "--backend", "host"}).code, 0);
}

TEST_F(ManySystems, AreRepeatedAndReported) {
  std::string const config =
      cat("problem: {batch: {generator: {type: poisson7, n: 4}, count: 30}}\n", method);
  Outcome o = solve(config, {"--repeat", "3"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["repeat"]["count"], 3);
  EXPECT_EQ(solve(config, {"--profile"}).code, 1);
  o = solve(config, {"--set", "output.report=true"});
  if (o.code == 1 && has(o.err, "gnuplot")) GTEST_SKIP() << "no gnuplot";
  ASSERT_EQ(o.code, 0) << o.err;
  std::string const page = read_text(folder_ / "tcsolve-out/report.html");
  EXPECT_TRUE(has(page, "outcomes: converged")) << page;
  EXPECT_FALSE(has(page, "<h2>Convergence</h2>"));
}

}  // namespace
}  // namespace tcsolve::cli
