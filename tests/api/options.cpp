// SPDX-License-Identifier: Apache-2.0
/// Options say the same in C++, in YAML text and in a file, and what is wrong with them is told
/// with its place.
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>

#include <filesystem>

#include "tests/api/systems.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

constexpr char const* yaml =
    "solver: {type: gmres, restart: 17, rtol: 1.0e-11}\n"
    "preconditioner: {type: chebyshev, degree: 3, preconditioner: {type: block_jacobi, block: 4}}\n"
    "operator: {format: csr}\n"
    "seed: 7\n"
    "backend: host\n";

SolverOptions in_cpp() {
  return {.solver = {"gmres", GmresParams{.stopping = {.rtol = 1e-11}, .restart = 17}},
          .preconditioner = {"chebyshev",
                             ChebyshevParams{.degree = 3,
                                             .preconditioner = {"block_jacobi",
                                                                BlockJacobiParams{.block = 4}}}},
          .matrix_operator = "csr",
          .backend = Backend::host,
          .seed = 7};
}

TEST(SolverOptionsRead, SayTheSameInCppInTextAndInAFile) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "solver.yaml", yaml);
  std::string const text = dump_yaml(SolverOptions::from_yaml(yaml));
  EXPECT_EQ(dump_yaml(read_options(in_cpp())), text);
  EXPECT_EQ(dump_yaml(SolverOptions::from_file(path.string())), text);
  EXPECT_EQ(dump_yaml(SolverOptions::from_yaml(text)), text) << "the dump is a config";
  EXPECT_NE(text.find("restart: 17"), std::string::npos) << text;
  EXPECT_NE(text.find("block: 4"), std::string::npos) << text;
}

TEST(SolverOptionsRead, SolveTheSameInCppInTextAndInAFile) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "solver.yaml", yaml);
  Csr<double> const a = csr(at_time(1));
  Column const b = random_column(a.rows, 3);
  LinearSolver cpp(a.view(), in_cpp()), text = LinearSolver::from_yaml(a.view(), yaml),
                                        file(a.view(), SolverOptions::from_file(path.string()));
  Column x = Column::Zero(a.rows), y = x, z = x;
  SolveReport const report = solve(cpp, b, x);
  EXPECT_TRUE(report.converged()) << report.message;
  expect_same(report, x, solve(text, b, y), y);
  expect_same(report, x, solve(file, b, z), z);
}

TEST(SolverOptionsRead, TextThatNamesNoSolverLeavesTheChoiceToAuto) {
  auto const taken = [](std::string const& text) {
    SolverOptions const options = SolverOptions::from_yaml(text);
    return cat(options.solver.type(), " ", options.preconditioner.type());
  };
  EXPECT_EQ(taken("{}"), "auto auto");
  EXPECT_EQ(taken("solver: {rtol: 1e-6}"), "auto auto");
  EXPECT_EQ(taken("preconditioner: {type: jacobi}"), "auto jacobi");
  EXPECT_EQ(taken("solver: {type: cg}"), "cg none");
  EXPECT_EQ(message_of<ConfigError>([&] { taken("solvr: {type: cg}"); }),
            "options:1:1: unknown key 'solvr' in the options of a solver; did you mean 'solver'?");
}

TEST(SolverOptionsRead, NamesAloneTakeDefaults) {
  SolverOptions const options = read_options({.solver = "cg"});
  EXPECT_EQ(dump_yaml(options), dump_yaml(SolverOptions::from_yaml("solver: {type: cg}")));
  EXPECT_EQ(options.preconditioner.type(), "none");
  EXPECT_EQ(options.matrix_operator.type(), "auto");
}

TEST(SolverOptionsRead, WhatYamlDoesNotSayStaysInCpp) {
  int here = 0;
  SolverOptions const options =
      read_options({.solver = "cg", .device = 3, .stream = &here, .check_matrices = false});
  EXPECT_EQ(options.device, 3);
  EXPECT_EQ(options.stream, &here);
  EXPECT_FALSE(options.check_matrices);
}

TEST(SolverOptionsRead, AConfigOfTheProgramIsOneToo) {
  SolverOptions const options = SolverOptions::from_yaml(
      "problem: {matrix: a.mtx}\noutput: {directory: d}\nsolver: {type: minres}\n");
  EXPECT_EQ(options.solver.type(), "minres");
}

TEST(SolverOptionsRead, ErrorsOfTextNameLineAndColumn) {
  std::string const said = message_of<ConfigError>([] {
    SolverOptions::from_yaml(
        "solver: {type: gmres, restrat: 5, rtol: 2}\n"
        "preconditioner: {type: jacobbi}\n"
        "sead: 1\n",
        "mine");
  });
  EXPECT_NE(said.find("mine:1:23: unknown key 'restrat' in solver 'gmres'; did you mean 'restart'"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("mine:1:41: 'rtol' = 2 is outside [0, 1]"), std::string::npos) << said;
  EXPECT_NE(said.find("mine:2:24: unknown preconditioner 'jacobbi'; did you mean 'jacobi'?"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("mine:3:1: unknown key 'sead'"), std::string::npos) << said;
}

TEST(SolverOptionsRead, ErrorsOfAFileNameIt) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "wrong.yaml", "solver:\n  type: cgg\n").string();
  std::string const said = message_of<ConfigError>([&] { SolverOptions::from_file(path); });
  EXPECT_EQ(said.find(path + ":2:9: unknown solver 'cgg'"), 0u) << said;
  EXPECT_NE(
      message_of<ConfigError>([&] { SolverOptions::from_file(path + "x"); }).find("cannot be read"),
      std::string::npos);
}

TEST(SolverOptionsRead, ErrorsOfCppNameTheMember) {
  auto const said = [](SolverOptions const& options) {
    return message_of<ConfigError>([&] { LinearSolver solver(options); });
  };
  EXPECT_EQ(said({.solver = {"cg", CgParams{.stopping = {.rtol = 2}}}}),
            "options.solver.rtol: 'rtol' = 2 is outside [0, 1]");
  EXPECT_EQ(said({.solver = {"minres", GmresParams{}}}).find("options.solver"), 0u);
  EXPECT_EQ(said({.solver = "cgg"}).find("options.solver.type: unknown solver 'cgg'; did you mean"),
            0u);
  EXPECT_EQ(said({.solver = "cg", .matrix_operator = "ccsr"})
                .find("options.operator.format: unknown operator 'ccsr'; did you mean 'csr'?"),
            0u);
  EXPECT_EQ(said({}).find("options: 'solver' is missing"), 0u);
  EXPECT_NE(said({.solver = "cg", .cache = {.directory = "d", .limit = -1}}).find("'limit' = -1"),
            std::string::npos);
}

/// A preconditioner of the caller's own.
class Mine final : public PreconditionerFactory {
 public:
  using Params = NoParams;
  explicit Mine(Params const&) {}
  std::unique_ptr<Preconditioner> build(Context&, tcsolve::System const&) const override {
    return nullptr;
  }
  bool goes_by_blocks() const override { return true; }
};

TEST(SolverOptionsRead, TakeMethodsOfTheCallersOwn) {
  SolverRegistries registries;
  registries.preconditioners.add<Mine>("mine", "nothing");
  SolverOptions const options =
      read_options({.solver = "cg", .preconditioner = "mine"}, registries);
  LinearSolver const solver(options);
  EXPECT_TRUE(solver.parts().preconditioner->goes_by_blocks());
  EXPECT_THROW(read_options({.solver = "cg", .preconditioner = "mine"}), ConfigError);
  SolverOptions other{.solver = "minres", .preconditioner = options.preconditioner};
  EXPECT_EQ(read_options(other).preconditioner.registry(), &registries.preconditioners)
      << "what has been read stays";
}

// ---- facts ----

SolverParts parts(std::string const& yaml) { return SolverParts(SolverOptions::from_yaml(yaml)); }

TEST(SolverPartsSay, WhenAMethodEndsWhateverHappens) {
  SolveLimits const given =
      parts("solver: {type: gmres, max_iters: 12, time_limit: 2.5}").method->limits();
  EXPECT_EQ(given.iterations, 12);
  EXPECT_EQ(given.seconds, 2.5);
  SolveLimits const defaults = parts("solver: {type: cg}").method->limits();
  EXPECT_EQ(defaults.iterations, StoppingParams{}.max_iters);
  EXPECT_TRUE(std::isinf(defaults.seconds));
}

TEST(SolverPartsSay, WhatAMethodTakesForGranted) {
  auto const needs = [](std::string const& type) {
    return parts("solver: {type: " + type + "}").method->needs();
  };
  for (std::string const type : {"cg", "chronopoulos_gear", "pipelined_cg"}) {
    EXPECT_TRUE(needs(type).symmetric) << type;
    EXPECT_TRUE(needs(type).definite) << type;
  }
  EXPECT_TRUE(needs("minres").symmetric);
  EXPECT_FALSE(needs("minres").definite);
  for (std::string const type : {"gmres", "fgmres", "bicgstab", "lsmr"}) {
    EXPECT_FALSE(needs(type).symmetric) << type;
    EXPECT_FALSE(needs(type).definite) << type;
  }
}

TEST(SolverOptionsRead, ThreadsAreThoseOfTheContext) {
  Csr<double> const a = csr(at_time(1));
  LinearSolver cpp(a.view(), {.solver = "cg", .backend = Backend::host, .threads = 3});
  EXPECT_EQ(cpp.context().threads(), 3);
  EXPECT_EQ(cpp.context().device_name(), "host, 3 threads");
  LinearSolver text =
      LinearSolver::from_yaml(a.view(), "solver: {type: cg}\nbackend: host\nthreads: 1\n");
  EXPECT_EQ(text.context().device_name(), "host, 1 thread");
  Column const b = random_column(a.rows, 3);
  Column x = Column::Zero(a.rows), y = x;
  expect_same(solve(cpp, b, x), x, solve(text, b, y), y);

  for (int wrong : {-1, 1025}) try {
      LinearSolver const solver({.solver = "cg", .threads = wrong});
      ADD_FAILURE() << wrong;
    } catch (ConfigError const& e) {
      EXPECT_NE(std::string(e.what()).find(
                    cat("options.threads: 'threads' = ", wrong, " is outside [0, 1024]")),
                std::string::npos)
          << e.what();
    }
  EXPECT_THROW(SolverOptions::from_yaml("solver: {type: cg}\nthreads: -1\n"), ConfigError);
}

TEST(SolverPartsSay, WhatAPreconditionerIsMadeOf) {
  auto const made = [](std::string const& block) {
    return std::move(parts("solver: {type: cg}\npreconditioner: " + block).preconditioner);
  };
  std::string const blocks = "{type: block_jacobi}";
  EXPECT_TRUE(made("{type: none}")->is_identity());
  EXPECT_FALSE(made("{type: none}")->needs_matrix());
  EXPECT_FALSE(made("{type: jacobi}")->is_identity());
  EXPECT_TRUE(made("{type: jacobi}")->needs_matrix());
  EXPECT_FALSE(made("{type: jacobi}")->goes_by_blocks());
  EXPECT_TRUE(made(blocks)->goes_by_blocks());
  EXPECT_FALSE(made("{type: chebyshev}")->goes_by_blocks());
  EXPECT_FALSE(made("{type: chebyshev, preconditioner: {type: none}}")->needs_matrix());
  std::string const inner = "{type: solver, solver: {type: cg}, preconditioner: " + blocks + "}";
  EXPECT_TRUE(made(inner)->goes_by_blocks());
  EXPECT_TRUE(made("{type: chebyshev, preconditioner: " + inner + "}")->goes_by_blocks());
  // Memory counts what is inside, too: nine vectors of cg, five of the polynomial.
  double const own = made(blocks)->bytes(100, 500);
  EXPECT_EQ(made(inner)->bytes(100, 500), 9 * 800 + own);
  EXPECT_EQ(made("{type: chebyshev, preconditioner: " + blocks + "}")->bytes(100, 500),
            5 * 800 + own);
}

}  // namespace
}  // namespace tcsolve::test
