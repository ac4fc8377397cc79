// SPDX-License-Identifier: Apache-2.0
/// What the program says to the usual mistakes in a config, an input file or a command line.
#include "tests/cli/program.hpp"
#include "tests/support/formats.hpp"

#include <algorithm>
#include <sstream>

namespace tcsolve::cli {
namespace {

class Messages : public Program {
 protected:
  /// The config is refused with this exit code and these words.
  void refused(std::string const& yaml, std::string const& words, int code = 1) {
    SCOPED_TRACE(yaml);
    Outcome const o = solve(yaml, {"--backend", "host"});
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(has(o.err, words)) << o.err;
  }
};

std::string const problem = "problem: {generator: {type: poisson7, n: 4}}\n";

TEST_F(Messages, AKeyOfAnotherBlockIsSentThere) {
  refused("generator: {type: poisson7}\nsolver: {type: cg}\n",
          "my.yaml:1:1: unknown key 'generator' in the config; 'generator' belongs under "
          "'problem:'");
  refused(problem + "solver: {type: cg}\nrtol: 1e-8\n", "'rtol' belongs under 'solver:'");
  refused(problem + "solver: {type: cg}\nrhs: ones\n", "'rhs' belongs under 'problem:'");
  refused("problem: {generator: {type: poisson7}, n: 4}\nsolver: {type: cg}\n",
          "'n' belongs under 'problem.generator:'");
  refused(problem + "solver: {type: cg, preconditioner: {type: jacobi}}\n",
          "'preconditioner' belongs at the top of the config");
  refused(problem + "solver: {type: cg}\ntol: 1e-8\n", "'rtol' belongs under 'solver:'");
}

TEST_F(Messages, SynonymsOfOtherPackagesAreKnown) {
  for (auto const& [theirs, ours] : {std::pair{"tol", "rtol"},
                                     {"tolerance", "rtol"},
                                     {"tolerence", "rtol"},
                                     {"maxiter", "max_iters"},
                                     {"max_it", "max_iters"},
                                     {"ksp_max_it", "max_iters"},
                                     {"max_iterations", "max_iters"}})
    refused(problem + "solver: {type: cg, " + theirs + ": 1}\n",
            std::string("did you mean '") + ours + "'?");
  refused(problem + "solver: {type: cg}\nprecond: {type: jacobi}\n",
          "did you mean 'preconditioner'?");
  refused(problem + "solver: {type: cg}\npc: {type: jacobi}\n", "did you mean 'preconditioner'?");
  refused("problem: {generator: {type: poisson7, nx: 4}}\nsolver: {type: cg}\n",
          "did you mean 'n'?");
  Outcome const gpu = solve(problem + "solver: {type: cg}\nbackend: gpu\n");
  EXPECT_TRUE(has(gpu.err, "did you mean 'cuda'?")) << gpu.err;
  Outcome const cpu = solve(problem + "solver: {type: cg}\nbackend: cpu\n");
  EXPECT_TRUE(has(cpu.err, "did you mean 'host'?")) << cpu.err;
}

TEST_F(Messages, AMethodThatIsNotThereNamesTheNearest) {
  for (char const* name : {"sor", "gauss_seidel"})
    refused(problem + "solver: {type: cg}\npreconditioner: {type: " + name + "}\n",
            "not available; nearest: ilu, ic, chebyshev");
  for (char const* name : {"gamg", "boomeramg", "multigrid"})
    refused(problem + "solver: {type: cg}\npreconditioner: {type: " + name + "}\n",
            "did you mean 'amg'?");
}

TEST_F(Messages, MistakesOfYamlAreNamedWithTheirLine) {
  refused("problem:\n\tgenerator: {type: poisson7}\nsolver: {type: cg}\n",
          "my.yaml:2:1: tabs are not allowed for indentation (line 2)");
  refused(problem + "solver: {type: cg\noutput: {every: 1}\n",
          "my.yaml:2:9: '{' of line 2 is not closed");
  refused(problem + "solver:\n  type: cg\n rtol: 1e-8\n",
          "my.yaml:4:2: line 4 is indented by 1, expected 2");
  refused(problem + "solver: {type:cg}\n", "put a space after 'type:'");
  refused("problem: {generator: {type:poisson7}}\nsolver: {type: cg}\n",
          "put a space after 'type:'");
  refused(problem + "solver: {type: cg}\noperator: {type: csr}\n",
          "the operator is named by 'format', not 'type'");
}

TEST_F(Messages, NumbersAreReadAsTheyAreWritten) {
  for (char const* keys : {"max_iters: 1e3", "time_limit: inf", "time_limit: .inf"}) {
    Outcome const o = solve(problem + "solver: {type: cg, " + keys + "}\n", {"--backend", "host"});
    EXPECT_EQ(o.code, 0) << keys << ": " << o.err;
  }
  EXPECT_EQ(result()["config"]["solver"]["max_iters"], 1000);
  refused(problem + "solver: {type: cg, time_limit: 10s}\n",
          "'10s' is not a number; write seconds, without a unit");
  refused(problem + "solver: {type: cg}\ncache: {limit: 1GB}\n", "write MB, without a unit");
  refused(problem + "solver: {type: cg, max_iters: 1.5e0}\n", "1.5e0 is not an integer");
  refused(problem + "solver: {type: cg, max_iters: 1e99}\n", "does not fit");
  refused(problem + "solver: {type: cg}\noutput: {solution: \"true\"}\n",
          "is text; write true without quotes");
  refused(problem + "solver: {type: cg}\noutput: {solution: yes}\n", "did you mean true?");
}

TEST_F(Messages, FilesOfOtherKindsSayWhatToDo) {
  write_text(folder_ / "a.mtx.bz2", "BZh91AY");
  refused("problem: {matrix: a.mtx.bz2}\nsolver: {type: cg}\n", "unpack it first", 2);
  write_text(folder_ / "a.zst", "\x28\xb5\x2f\xfd....");
  refused("problem: {matrix: a.zst}\nsolver: {type: cg}\n", "unpack it first", 2);
  write_text(folder_ / "small.mtx",
             "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  refused("problem: {matrix: smal.mtx}\nsolver: {type: cg}\n", "did you mean 'small.mtx'?", 2);
  refused("problem: {matrix: ~/a.mtx}\nsolver: {type: cg}\n", "~ is not expanded", 2);
  refused("problem: {matrix: $HOME/a.mtx}\nsolver: {type: cg}\n", "$ is not expanded", 2);
  refused("problem: {matrix: small.mtx, rhs: [1]}\nsolver: {type: cg}\n", "to a file");
  refused("problem: {matrix: small.mtx, rhs: {columns: 2, from: x}}\nsolver: {type: cg}\n",
          "'rhs' is {file: NAME}, {columns: K} or {units: [ROW, ...]}");
  refused("problem: {matrix: small.mtx, rhs: {units: [1, 0]}}\nsolver: {type: cg}\n",
          "'units[1]' = 0 is outside [1, inf)");
  refused("problem: {matrix: small.mtx, rhs: {units: []}}\nsolver: {type: cg}\n",
          "'rhs: units' and the list 'units' belong together");
  refused("problem: {matrix: small.mtx, rhs: ones, units: [1]}\nsolver: {type: cg}\n",
          "'rhs: units' and the list 'units' belong together");
  refused("problem: {matrix: small.mtx, rhs: {units: [1, 2]}}\nsolver: {type: cg}\n",
          "the matrix has 1 row; there is no row 2 of 'units'", 2);
  refused("problem: {matrix: small.mtx, rhs: ones, columns: 2}\nsolver: {type: cg}\n",
          "'columns' is for 'rhs: random'");
}

TEST_F(Messages, ShapesNameTheMatrixAndAWayOut) {
  write_text(folder_ / "tall.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 2 1\n3 1 1\n");
  refused("problem: {matrix: tall.mtx}\nsolver: {type: gmres}\n", "the matrix is 3 x 2", 2);
  refused("problem: {matrix: tall.mtx}\nsolver: {type: lsmr}\noperator: {format: " +
              test::converted_format().name + "}\n",
          "use operator: {format: csr}");
  refused("problem: {matrix: tall.mtx}\nsolver: {type: lsmr}\npreconditioner: {type: jacobi}\n",
          "remove the preconditioner", 2);
}

TEST_F(Messages, ASetOfAMatrixReplacesTheGenerator) {
  write_text(folder_ / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  Outcome o = solve(small_config, {"--set", "problem.matrix=m.mtx", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["problem"]["rows"], 1);
  o = solve("problem: {matrix: m.mtx}\nsolver: {type: cg}\n",
            {"--set", "problem.generator={type: poisson7, n: 2}", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["problem"]["rows"], 8);
}

TEST_F(Messages, QuietKeepsWarnings) {
  for (std::string const M : {"none", "auto"}) {
    Outcome const o =
        solve("problem: {generator: {type: convdiff, n: 4, velocity: 10}}\nsolver: {type: cg}\n",
              {"-q", "--backend", "host", "--set", "preconditioner.type=" + M});
    EXPECT_TRUE(has(o.err, "warning: cg needs a symmetric matrix")) << o.err;
    EXPECT_FALSE(has(o.out, "seconds:")) << o.out;
  }
}

TEST_F(Messages, ShortFormsAndSuggestionsOfTheCommandLine) {
  EXPECT_TRUE(tcsolve({"-V"}).out.starts_with("tcsolve 0."));
  EXPECT_EQ(solve(small_config, {"-v", "-o", "there", "-s", "seed=2"}).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "there/result.json"));
  EXPECT_TRUE(has(tcsolve({"--versoin"}).err, "did you mean --version?"));
  Outcome const solve = tcsolve({"solve", "my.yaml"});
  EXPECT_EQ(solve.code, 1);
  EXPECT_TRUE(has(solve.err, "write tcsolve my.yaml")) << solve.err;
  Outcome const help = tcsolve({"help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(has(help.out, "--set")) << help.out;
}

TEST_F(Messages, OptionsOfOtherPackagesAreKnown) {
  for (auto const& [given, meant] :
       {std::pair<Arguments, char const*>{{"--preconditoner", "jacobi"},
                                          "did you mean --preconditioner?"},
        {{"--tolerance", "1e-8"}, "did you mean --rtol?"},
        {{"--maxit", "100"}, "did you mean --set solver.max_iters=VALUE?"},
        {{"--maxiter=100"}, "did you mean --set solver.max_iters=VALUE?"},
        {{"-ksp_type", "cg"}, "did you mean --solver?"},
        {{"--backend", "gpu"}, "did you mean cuda?"},
        {{"--backend=cpu"}, "did you mean host?"},
        {{"--calibraton", "x"}, "did you mean --calibration?"}}) {
    Outcome const o = solve(small_config, given);
    EXPECT_EQ(o.code, 1) << given[0] << o.err;
    EXPECT_TRUE(has(o.err, meant)) << o.err;
  }
}

/// Short names of PETSc's users are names of the same options, in messages too.
TEST_F(Messages, ShortNamesOfOptionsAreTaken) {
  for (char const* const pc : {"--pc", "--precond"}) {
    Outcome const o = solve(small_config, {"--ksp", "gmres", pc, "ilu", "--tol=1e-6", "-q"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(result()["config"]["solver"]["type"], "gmres");
    EXPECT_EQ(result()["config"]["solver"]["rtol"], 1e-6);
    EXPECT_EQ(result()["config"]["preconditioner"]["type"], "ilu");
  }
  write_text(folder_ / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  Outcome o = tcsolve({"advise", "m.mtx", "--tol", "1e-5", "--backend", "host", "-q"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "rtol: 1e-05") || has(o.out, "rtol: 1.0e-05")) << o.out;
  o = tcsolve({"advise", "m.mtx", "--pc", "jacobi"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "'advise' does not use --preconditioner")) << o.err;
}

TEST_F(Messages, AFileThatIsNotThereNamesTheNearest) {
  write_text(folder_ / "good.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  write_text(folder_ / "zz.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (Arguments const& arguments : std::vector<Arguments>{{"good.mt"},
                                                           {"goood.mtx"},
                                                           {"info", "goof.mtx"},
                                                           {"init", "good.mt"},
                                                           {"advise", "Good.mtx"},
                                                           {"good.mtx", "god.mtx"}}) {
    Outcome const o = tcsolve(arguments);
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_TRUE(has(o.err, "did you mean 'good.mtx'?")) << o.err;
  }
  Outcome o = tcsolve({"lp.mtx"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_FALSE(has(o.err, "did you mean")) << o.err;
  o = tcsolve({"infoo", "good.mtx"});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_TRUE(has(o.err, "did you mean the command 'info'?")) << o.err;
  write_text(folder_ / "my.yaml", small_config);
  o = tcsolve({"mi.yaml"});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_TRUE(has(o.err, "did you mean 'my.yaml'?")) << o.err;
}

TEST_F(Messages, ABlockByItsNameAlone) {
  Outcome o =
      solve("problem: {generator: poisson7}\nsolver: cg\npreconditioner: jacobi\noperator: csr\n",
            {"--set", "problem.generator.n=4", "--set", "solver.rtol=1e-6", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["solver"]["type"], "cg");
  EXPECT_EQ(result()["config"]["solver"]["rtol"], 1e-6);
  EXPECT_EQ(result()["config"]["operator"]["format"], "csr");
  EXPECT_EQ(result()["problem"]["rows"], 64);
  o = solve(problem + "solver: {type: fgmres}\npreconditioner: {type: solver, solver: cg}\n",
            {"--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  o = solve(problem + "solver: gmres\n",
            {"--set", "solver=cg", "--set", "solver.max_iters=7", "--backend", "host"});
  EXPECT_EQ(result()["config"]["solver"]["type"], "cg") << o.err;
  EXPECT_EQ(result()["config"]["solver"]["max_iters"], 7) << o.err;
  refused(problem + "solver: gc\n", "unknown solver 'gc'; did you mean 'cg'?");
  refused(problem + "solver: [cg]\n", "a solver is a block: {type: ...}");
  write_text(folder_ / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  o = tcsolve({"m.mtx", "--set", "solver=cg", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(result()["config"]["solver"]["type"], "cg");
}

/// One mistake is one line.
TEST_F(Messages, OneMessageForOneMistake) {
  auto const lines = [](std::string const& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  for (std::string const& config :
       {std::string("problem: {matrix: m.mtx, rhs: [1, 2, 3]}\nsolver: {type: cg}\n"),
        std::string("generator: {type: poisson7}\nsolver: {type: cg}\n"),
        std::string("matrix: m.mtx\nsolver: {type: cg}\n"),
        std::string(
            "problem: {matrix: m.mtx, rhs: {columns: 2, from: x}}\nsolver: {type: cg}\n")}) {
    Outcome const o = solve(config);
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_EQ(lines(o.err), 1) << o.err;
  }
  write_text(folder_ / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  refused("problem: {matrix: m.mtx, x0: ones}\nsolver: {type: cg}\n",
          "'x0' is a file or one of zero, random", 2);
  refused("problem: {matrix: m.mtx, rhs: zero}\nsolver: {type: cg}\n",
          "'rhs' is a file or one of ones, random, A_times_ones", 2);
  refused("problem: {generator: {type: poisson27, n: 1291}}\nsolver: {type: cg}\n",
          "'n' = 1291 is outside [1, 1290]");
  write_text(folder_ / "n.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 -1\n1 2 5\n2 2 1\n");
  Outcome const o = solve("problem: {matrix: n.mtx}\nsolver: {type: cg}\n", {"--backend", "host"});
  EXPECT_FALSE(has(o.err, "use minres")) << o.err;
}

TEST_F(Messages, ExplainFindsWhatSetFinds) {
  for (char const* path : {"solver.gmres.restart", "restart"}) {
    Outcome const o = tcsolve({"--explain", path});
    EXPECT_EQ(o.code, 0) << path << o.err;
    EXPECT_TRUE(has(o.out, "[1, 1000]")) << o.out;
    EXPECT_FALSE(has(o.out, "rtol")) << o.out;
  }
  EXPECT_TRUE(has(tcsolve({"--explain", "gmres"}).out, "restart"));
  EXPECT_TRUE(has(tcsolve({"--explain", "problem.generator.rmat"}).out, "generator 'rmat':"));
  EXPECT_TRUE(has(tcsolve({"--explain", "operator.auto.values"}).out, "fp32"));
  EXPECT_TRUE(has(tcsolve({"--explain", "preconditioner.jacobi"}).out, "preconditioner 'jacobi':"));
  EXPECT_TRUE(has(tcsolve({"--explain", "solver.gmres.restrt"}).err, "did you mean 'restart'?"));
}

TEST_F(Messages, TablesFitALine) {
  for (Arguments const& a : std::vector<Arguments>{
           {"--help"}, {"--list"}, {"--explain"}, {"--explain", "solver.gmres"}}) {
    std::istringstream lines(tcsolve(a).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(Messages, APipedProgressEndsWithTheLastIteration) {
  Outcome const o = solve(small_config, {"--backend", "host", "--set", "output.every=7"});
  std::string const last =
      "cg: iteration " + std::to_string(result()["iterations"].get<int>()) + " ";
  EXPECT_TRUE(has(o.out + o.err, last)) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
