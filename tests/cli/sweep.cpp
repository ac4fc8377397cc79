// SPDX-License-Identifier: Apache-2.0
/// `tcsolve sweep`: every combination runs once, whatever stops it, and the tables say what came
/// out.
#include "tests/cli/program.hpp"

#include <tcsolve/core/error.hpp>

#include <signal.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace tcsolve::cli {
namespace {

using namespace std::chrono_literals;

constexpr char const* small_sweep =
    "preconditioner: {type: jacobi}\n"
    "solver: {type: cg, rtol: 1.0e-8}\n"
    "backend: host\n"
    "output: {directory: out, bandwidth: false}\n"
    "sweep:\n"
    "  problems:\n"
    "    - {generator: {type: poisson7, n: 6, coefficient: random}}\n"
    "    - {generator: {type: poisson7, n: 8, coefficient: random}}\n"
    "  keys:\n"
    "    operator.values: [fp64, fp32]\n"
    "    solver: [{type: cg}, {type: gmres, restart: 40}]\n"
    "  baseline: operator.values\n"
    "  repeats: 2\n";

class Sweeps : public Program {
 protected:
  Outcome sweep(std::string const& yaml, Arguments more = {}) {
    write_text(folder_ / "s.yaml", yaml);
    more.insert(more.begin(), {"sweep", "s.yaml"});
    return tcsolve(std::move(more));
  }
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> all;
    std::istringstream in(read_text(folder_ / "out/sweep.jsonl"));
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
  std::string page() const { return read_text(folder_ / "out/sweep.html"); }
  /// When each run was made.
  std::map<std::string, fs::file_time_type> runs() const {
    std::map<std::string, fs::file_time_type> all;
    if (!fs::exists(folder_ / "out/runs")) return all;
    for (auto const& run : fs::directory_iterator(folder_ / "out/runs"))
      if (fs::exists(run.path() / "result.json"))
        all[run.path().filename()] = fs::last_write_time(run.path() / "result.json");
    return all;
  }
};

/// How many of `before` were made anew, or are new.
int made_anew(std::map<std::string, fs::file_time_type> const& before,
              std::map<std::string, fs::file_time_type> const& after) {
  int count = 0;
  for (auto const& [run, when] : after) {
    auto const old = before.find(run);
    count += old == before.end() || old->second != when;
  }
  return count;
}

TEST_F(Sweeps, RunEveryCombination) {
  Outcome const o = sweep(small_sweep);
  ASSERT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_TRUE(has(o.out, "2 problems with 4 settings, 8 runs of 2 solves after a warm-up"))
      << o.out;
  EXPECT_TRUE(has(o.verdict(), "sweep: 8 of 8 runs; 8 of 8 solved")) << o.out;
  auto const all = lines();
  ASSERT_EQ(all.size(), 8u);
  std::set<std::string> seen;
  for (auto const& line : all) {
    std::string const values = line["setting"]["operator.values"];
    std::string const solver = line["setting"]["solver"];
    seen.insert(cat(line["problem"].get<std::string>(), "/", values, "/", solver));
    // Each is the run that it says.
    auto const r = result(fs::path("out") / line["run"].get<std::string>());
    EXPECT_EQ(r["config"]["operator"]["values"], values);
    EXPECT_EQ(r["config"]["solver"]["type"], solver == "cg" ? "cg" : "gmres");
    EXPECT_EQ(r["repeat"]["count"], 2);
    EXPECT_EQ(r["repeat"]["median"], line["median_seconds"]);
    EXPECT_EQ(r["iterations"], line["iterations"]);
    EXPECT_EQ(line["outcome"], "converged");
    EXPECT_LE(line["true_relative"].get<double>(), 1e-8);
    if (solver != "cg") EXPECT_EQ(r["config"]["solver"]["restart"], 40);
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_TRUE(seen.contains("poisson7 (n: 8, coefficient: random)/fp32/gmres (restart: 40)"));
  // A row of the CSV for each, of as many fields as its head has; none of these has a line's end.
  std::istringstream csv(read_text(folder_ / "out/sweep.csv"));
  std::string head, row;
  std::getline(csv, head);
  EXPECT_TRUE(head.starts_with("problem,operator.values,solver,outcome,")) << head;
  int rows = 0;
  while (std::getline(csv, row)) {
    ++rows;
    EXPECT_TRUE(row.starts_with("\"poisson7 (n: ")) << row;
  }
  EXPECT_EQ(rows, 8);
}

/// The baseline of a setting has the first value of that key, and everything else alike.
TEST_F(Sweeps, CompareWithTheBaseline) {
  ASSERT_EQ(sweep(small_sweep).code, 0);
  std::map<std::string, nlohmann::json> by_name;
  for (auto const& line : lines())
    by_name[cat(line["problem"].get<std::string>(),
                line["setting"]["operator.values"].get<std::string>(),
                line["setting"]["solver"].get<std::string>())] = line;
  for (char const* const problem :
       {"poisson7 (n: 6, coefficient: random)", "poisson7 (n: 8, coefficient: random)"})
    for (char const* const solver : {"cg", "gmres (restart: 40)"}) {
      auto const& base = by_name.at(cat(problem, "fp64", solver));
      auto const& other = by_name.at(cat(problem, "fp32", solver));
      EXPECT_EQ(base["speedup"], 1);
      EXPECT_DOUBLE_EQ(other["speedup"], base["median_seconds"].get<double>() /
                                             other["median_seconds"].get<double>());
      auto const whole = [](nlohmann::json const& line) {
        return line["median_seconds"].get<double>() + line["setup_seconds"].get<double>();
      };
      EXPECT_DOUBLE_EQ(other["speedup_with_setup"], whole(base) / whole(other));
    }
  // Without a key: the first setting of all.
  ASSERT_EQ(sweep(small_sweep, {"--set", "sweep.baseline="}).code, 0);
  auto const all = lines();
  EXPECT_DOUBLE_EQ(all[3]["speedup"],
                   all[0]["median_seconds"].get<double>() / all[3]["median_seconds"].get<double>());
}

TEST_F(Sweeps, GoOnWhereTheyWereStopped) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n");
  std::string const yaml =
      "backend: host\noutput: {directory: out, bandwidth: false}\n"
      "sweep:\n  problems: [a.mtx, {generator: {type: poisson7, n: 4}}]\n"
      "  keys: {solver.type: [cg, minres]}\n  repeats: 1\n";
  ASSERT_EQ(sweep(yaml).code, 0);
  auto const first = runs();
  ASSERT_EQ(first.size(), 4u);
  auto const table = read_text(folder_ / "out/sweep.csv");
  Outcome o = sweep(yaml);
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "4 kept from before")) << o.out;
  EXPECT_EQ(made_anew(first, runs()), 0);
  EXPECT_EQ(read_text(folder_ / "out/sweep.csv"), table) << "the tables are those of the runs";
  // What is missing, broken or was cancelled is run again, and nothing else.
  auto const name = [&](std::size_t k) { return std::next(first.begin(), k)->first; };
  fs::remove(folder_ / "out/runs" / name(0) / "result.json");
  write_text(folder_ / "out/runs" / name(1) / "result.json", "{\"verdict\": 3");
  auto cancelled = result(fs::path("out/runs") / name(2));
  cancelled["verdict"]["outcome"] = "cancelled";
  write_text(folder_ / "out/runs" / name(2) / "result.json", cancelled.dump());
  EXPECT_TRUE(has(sweep(yaml, {"--dry-run"}).out, "; 1 kept from before"));
  EXPECT_EQ(sweep(yaml).code, 0);
  EXPECT_EQ(runs().at(name(3)), first.at(name(3)));
  EXPECT_EQ(result(fs::path("out/runs") / name(2))["verdict"]["outcome"], "converged");
  EXPECT_EQ(lines().size(), 4u);
  // One more value adds its runs; a matrix that was written since makes its own anew.
  auto const second = runs();
  EXPECT_EQ(sweep(yaml, {"--set", "sweep.keys={solver.type: [cg, gmres, minres]}"}).code, 0);
  EXPECT_EQ(made_anew(second, runs()), 2);
  auto const third = runs();
  fs::last_write_time(folder_ / "a.mtx", fs::file_time_type::clock::now() + 1h);
  EXPECT_EQ(sweep(yaml).code, 0);
  EXPECT_EQ(made_anew(third, runs()), 2);
  // So do another number of solves and another key.
  auto const fourth = runs();
  fs::last_write_time(folder_ / "a.mtx", fs::file_time_type::clock::now() - 1h);
  EXPECT_EQ(sweep(yaml, {"--set", "sweep.repeats=2"}).code, 0);
  EXPECT_EQ(made_anew(fourth, runs()), 4);
}

TEST_F(Sweeps, CtrlCKeepsWhatIsThere) {
  std::string const yaml =
      "backend: host\noutput: {directory: out, bandwidth: false}\n"
      "solver: {type: cg}\n"
      "sweep:\n  variants:\n"
      "    quick: {problem: {generator: {type: poisson7, n: 4}}}\n"
      "    endless: {problem: {generator: {type: convdiff, n: 80, velocity: 10}, rhs: random}, "
      "solver: {type: lsmr, rtol: 1.0e-15, max_iters: 100000000, stagnation_window: 0}}\n"
      "    after: {problem: {generator: {type: poisson7, n: 5}}}\n"
      "  repeats: 1\n";
  write_text(folder_ / "s.yaml", yaml);
  ::signal(SIGHUP, SIG_DFL);
  for (int const signal : {SIGINT, SIGTERM}) {
    fs::remove_all(folder_ / "out");
    pid_t const process = start(command({"sweep", "s.yaml"}));
    for (int i = 0; i < 2000; ++i) {
      bool iterates = false;
      if (fs::exists(folder_ / "out/runs"))
        for (auto const& run : fs::directory_iterator(folder_ / "out/runs"))
          iterates |= has(read_text(run.path() / "log.txt"), "lsmr: iteration 5");
      if (iterates) break;
      std::this_thread::sleep_for(20ms);
    }
    ::kill(process, signal);
    Outcome const o = wait(process);
    EXPECT_EQ(o.code, 3) << o.out << o.err;
    EXPECT_TRUE(has(o.verdict(),
                    "1 of 3 runs; 1 of 1 solved; stopped: the same command goes on "
                    "with the others"))
        << o.out;
    ASSERT_EQ(lines().size(), 1u);
    EXPECT_EQ(lines()[0]["setting"]["variants"], "quick");
    EXPECT_TRUE(has(page(), "quick"));
    EXPECT_TRUE(tidy("out"));
  }
  // What was cut short is not taken for a result, what was there is not run again.
  auto const before = runs();
  Outcome const o =
      tcsolve({"sweep", "s.yaml", "--set", "sweep.variants.endless.solver={type: cg}"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_EQ(lines().size(), 3u);
  EXPECT_EQ(made_anew(before, runs()), 2);
}

TEST_F(Sweeps, NameEveryMistakeOnce) {
  Outcome o = sweep(
      "preconditioner: {type: jacobi}\n"
      "solver: {type: gmres, restrt: 20}\n"
      "sweep:\n"
      "  problems: [{generator: {type: poisson7, m: 6}}]\n"
      "  keys: {operator.valus: [fp64, fp32], solver.rtol: [1.0e-8, 3]}\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err,
            "s.yaml:2:23: unknown key 'restrt' in solver 'gmres'; did you mean 'restart'?\n"
            "s.yaml:4:43: unknown key 'm' in generator 'poisson7'; valid: type, n, coefficient, "
            "renumber, seed\n"
            "s.yaml:5:10: unknown key 'valus' in operator 'auto'; did you mean 'values'?\n"
            "s.yaml:5:62: 'rtol' = 3 is outside [0, 1]\n")
      << o.err;
  for (auto const& [yaml, said] : std::vector<std::pair<std::string, std::string>>{
           {"solver: cg\n", "it has no 'sweep'"},
           {"sweep: {repeat: 3}\n", "unknown key 'repeat' in 'sweep'; did you mean 'repeats'?"},
           {"sweep: {repeats: 0}\n", "'repeats' = 0 is outside [1, 1000000]"},
           {"sweep: {keys: {solver.rtol: 1.0e-8}}\n",
            "'solver.rtol' in 'keys' takes a list of "
            "values"},
           {"sweep: {keys: [solver.rtol]}\n", "'keys' is a map from keys to lists"},
           {"sweep: {keys: {output.directory: [a, b]}}\n", "is one of the whole sweep"},
           {"sweep: {keys: {solver.rtol: [0.1, 0.1]}}\n", "'0.1' is given twice in 'solver.rtol'"},
           {"sweep: {keys: {solver..rtol: [0.1]}}\n", "is no path of keys"},
           {"solver: {type: cg, rtol: 0.1}\nsweep: {keys: {solver.rtol.x: [0.1]}}\n",
            "'x' is not inside a block: s.yaml:1:26 holds a value"},
           {"sweep: {variants: {a: 3}}\n", "'a' in 'variants' is keys with values"},
           {"sweep: {baseline: solver.typ, keys: {solver.type: [cg]}}\n",
            "'baseline' = 'solver.typ' is none of what changes; did you mean 'solver.type'?"},
           {"sweep: {problems: a.mtx}\n", "'problems' is a list"},
           {"problem: {matrix: '-'}\nsolver: cg\nsweep: {}\n", "standard input is read once"}}) {
    o = sweep(yaml);
    EXPECT_EQ(o.code, 1) << yaml;
    EXPECT_TRUE(has(o.err, said)) << yaml << o.err;
    EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out")) << "nothing was begun";
  }
  EXPECT_EQ(sweep("solver: cg\nsweep: {problems: [none.mtx]}\n").code, 2);
  EXPECT_EQ(tcsolve({"sweep"}).code, 1);
  EXPECT_EQ(tcsolve({"sweep", "none.yaml"}).code, 1);
  EXPECT_EQ(tcsolve({"sweep", "s.yaml", "--repeat", "3"}).code, 1);
  o = solve(small_sweep);
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "'sweep' is for many runs: tcsolve sweep my.yaml")) << o.err;
}

/// A run that fails is a row of the tables; its exit code is that of the sweep where no other
/// solves more.
TEST_F(Sweeps, FailuresAreRows) {
  std::string const yaml =
      "solver: {type: cg}\npreconditioner: {type: jacobi}\nbackend: host\n"
      "output: {directory: out, bandwidth: false}\n"
      "sweep:\n  problems: [{generator: {type: poisson7, n: 8}}, indefinite.mtx]\n"
      "  keys: {solver.max_iters: [2, 100]}\n  repeats: 1\n";
  write_text(folder_ / "indefinite.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -1\n");
  Outcome o = sweep(yaml);
  EXPECT_EQ(o.code, 0) << "one of them converged: " << o.out << o.err;
  ASSERT_EQ(lines().size(), 4u);
  EXPECT_EQ(lines()[0]["outcome"], "max_iterations");
  EXPECT_EQ(lines()[0]["exit_code"], 3);
  EXPECT_EQ(lines()[1]["outcome"], "converged");
  EXPECT_TRUE(lines()[1]["speedup"].is_null()) << "over a baseline that did not converge";
  EXPECT_EQ(lines()[2]["exit_code"], 4);
  EXPECT_TRUE(has(page(), "max_iterations</td>"));
  o = sweep(yaml, {"--set", "sweep.keys={solver.max_iters: [2]}"});
  EXPECT_EQ(o.code, 3) << o.out;
  // Memory that is not there is one run's fault, and is asked for again.
  o = sweep(yaml, {"--set",
                   "sweep.problems=[{generator: {type: poisson27, n: 1200}}, {generator: "
                   "{type: poisson7, n: 4}}]"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_EQ(lines()[0]["outcome"], "out_of_memory");
  EXPECT_EQ(lines()[3]["outcome"], "converged");
  EXPECT_TRUE(has(sweep(yaml, {"--dry-run", "--set",
                               "sweep.problems=[{generator: {type: poisson27, n: 1200}}]"})
                      .out,
                  "# sweep: 1 problem with 2 settings, 2 runs of 1 solve after a warm-up\n"));
}

/// A folder is its matrices; files of one name are told apart.
TEST_F(Sweeps, TakeFoldersOfMatrices) {
  char const* const matrix =
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n";
  fs::create_directories(folder_ / "below/one");
  fs::create_directories(folder_ / "below/two");
  for (char const* const file : {"one/b.mtx", "one/a.mtx", "two/a.mtx"})
    write_text(folder_ / "below" / file, matrix);
  write_text(folder_ / "below/one/notes.yaml", "no matrix\n");
  write_text(folder_ / "below/s.yaml",
             "solver: cg\nbackend: host\noutput: {directory: out, bandwidth: false}\n"
             "sweep: {problems: [one, two/a.mtx], repeats: 1}\n");
  Outcome const o = tcsolve({"sweep", "below/s.yaml"});
  ASSERT_EQ(o.code, 0) << o.err;
  ASSERT_EQ(lines().size(), 3u);
  EXPECT_EQ(lines()[0]["problem"], "one/a.mtx");
  EXPECT_EQ(lines()[1]["problem"], "b.mtx");
  EXPECT_EQ(lines()[2]["problem"], "two/a.mtx");
  EXPECT_EQ(tcsolve({"sweep", "below/s.yaml", "--set", "sweep.problems=[below]"}).code, 1)
      << "a folder without one";
}

TEST_F(Sweeps, TellTheAttainableAccuracy) {
  ASSERT_EQ(sweep(small_sweep, {"--set", "sweep.attainable=true"}).code, 0);
  auto const all = lines();
  ASSERT_EQ(all.size(), 8u);
  for (auto const& line : all) {
    EXPECT_GT(line["true_relative"].get<double>(), 1e-12) << "to the tolerance";
    EXPECT_LT(line["attainable_relative"].get<double>(), 1e-14) << "beyond it";
  }
  EXPECT_EQ(runs().size(), 16u);
  EXPECT_TRUE(has(page(), "Attainable accuracy"));
}

TEST_F(Sweeps, ThePageOpensWithoutANetwork) {
  std::string const yaml = small_sweep;
  Outcome o = sweep(yaml, {"--quiet"});
  ASSERT_EQ(o.code, 0);
  EXPECT_EQ(o.out, o.verdict() + "\n") << "the verdict only";
  std::string page = this->page();
  EXPECT_TRUE(has(page, "default-src 'none'"));
  for (char const* const words :
       {"<h1>s.yaml</h1>", "8 of 8 runs; 8 of 8 solved", "data-key=\"speedup\"",
        "data-key=\"accuracy\"", "data-key=\"profile\"", "data-key=\"runs\"",
        "operator.values fp32, solver gmres (restart: 40)", "</html>"})
    EXPECT_TRUE(has(page, words)) << words;
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "src=\""));
  if (run({"bash", "-c", "command -v gnuplot"}).code == 0)
    for (char const* const plot :
         {"speedup-plot", "accuracy-plot", "profile-plot", "by-iteration", "by-time"})
      EXPECT_TRUE(has(page, cat("data-key=\"", plot, "\">\n<svg"))) << plot;
  // Without gnuplot: the same tables, and why there is nothing more.
  o = run({"bash", "-c", "PATH=/none exec \"$0\" sweep s.yaml", command({}).front()});
  EXPECT_EQ(o.code, 0) << o.err;
  page = this->page();
  EXPECT_TRUE(has(page, "gnuplot is not on the path (Debian: gnuplot-nox)"));
  EXPECT_FALSE(has(page, "<svg"));
  EXPECT_TRUE(has(page, "data-key=\"profile\""));
  // A gnuplot that fails.
  fs::create_directory(folder_ / "bin");
  write_text(folder_ / "bin/gnuplot", "#!/bin/sh\necho 'no terminal svg' >&2\nexit 1\n");
  fs::permissions(folder_ / "bin/gnuplot", fs::perms::owner_all);
  o = run({"bash", "-c", cat("PATH=", (folder_ / "bin").string(), " exec \"$0\" sweep s.yaml"),
           command({}).front()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(this->page(), "Without plots: gnuplot failed: no terminal svg"));
}

TEST_F(Sweeps, WhatAUserWritesIsText) {
  std::string const name = "<img src=x onerror=alert(1)>&'\",.mtx";
  write_text(folder_ / name, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  Outcome const o =
      sweep(cat("solver: cg\nbackend: host\noutput: {directory: out, bandwidth: false}\n"
                "sweep:\n  problems: ['<img src=x onerror=alert(1)>&''\",.mtx']\n"
                "  variants: {\"<b>\\\"'\": {}, 'b,\"c\"': {solver.rtol: 0.1}}\n"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(page(), "&lt;img src=x onerror=alert(1)&gt;&amp;&#39;&quot;,.mtx"));
  EXPECT_TRUE(has(page(), "&lt;b&gt;&quot;&#39;"));
  EXPECT_FALSE(has(page(), "<img"));
  std::string const csv = read_text(folder_ / "out/sweep.csv");
  EXPECT_TRUE(has(csv, "\n\"<img src=x onerror=alert(1)>&'\"\",.mtx\",\"<b>\"\"'\",converged,"))
      << csv;
  EXPECT_TRUE(has(csv, ",\"b,\"\"c\"\"\",")) << csv;
}

/// One directory is one sweep's.
TEST_F(Sweeps, TheirDirectoryIsTheirs) {
  write_text(folder_ / "s.yaml",
             "backend: host\noutput: {directory: out, bandwidth: false}\n"
             "problem: {generator: {type: convdiff, n: 80, velocity: 10}, rhs: random}\n"
             "solver: {type: lsmr, rtol: 1.0e-15, max_iters: 100000000, stagnation_window: 0}\n"
             "sweep: {repeats: 1}\n");
  pid_t const process = start(command({"sweep", "s.yaml"}));
  for (int i = 0; i < 2000 && !fs::exists(folder_ / "out/runs"); ++i)
    std::this_thread::sleep_for(5ms);
  Outcome const second = tcsolve({"sweep", "s.yaml"});
  EXPECT_EQ(second.code, 2);
  EXPECT_TRUE(has(second.err, "another run writes into the directory")) << second.err;
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait(process).code, 3);
}

TEST_F(Sweeps, AreExplained) {
  Outcome const o = tcsolve({"--explain", "sweep"});
  EXPECT_EQ(o.code, 0) << o.err;
  for (char const* const key : {"sweep.problems", "sweep.keys", "sweep.variants", "sweep.baseline",
                                "sweep.repeats", "sweep.attainable"})
    EXPECT_TRUE(has(o.out, key)) << key;
  EXPECT_TRUE(has(tcsolve({"--help"}).out, "sweep"));
  EXPECT_TRUE(has(tcsolve({"swep", "s.yaml"}).err, "did you mean the command 'sweep'?"));
}

}  // namespace
}  // namespace tcsolve::cli
