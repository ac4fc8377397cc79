// SPDX-License-Identifier: Apache-2.0
/// A small config with every kind of member, two registries whose blocks nest in each other, and a
/// reader for it. Used by the unit tests of configs/ and by the fuzzer.
#pragma once

#include <tcsolve/configs/explain.hpp>
#include <tcsolve/configs/registry.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tcsolve::sample {

enum class Ortho { mgs, cgs2 };
constexpr auto names(Ortho) {
  return std::array{std::pair{Ortho::mgs, "mgs"}, std::pair{Ortho::cgs2, "cgs2"}};
}

struct Stopping {
  double rtol = 1e-8;
  int max_iters = 1000;
  double time_limit = std::numeric_limits<double>::infinity();
  static constexpr auto schema() {
    using P = Stopping;
    return std::tuple{
        field(&P::rtol, "rtol", between(0.0, 1.0), "stop when norm(b - A x) <= rtol norm(b)"),
        field(&P::max_iters, "max_iters", non_negative(), "iterations over all restarts"),
        field(&P::time_limit, "time_limit", positive().or_infinite(), "seconds")};
  }
  bool operator==(Stopping const&) const = default;
};

struct Solver {
  virtual ~Solver() = default;
  virtual std::string name() const = 0;
};
struct Precond {
  virtual ~Precond() = default;
};

struct Cg : Solver {
  struct Params {
    Stopping stopping;
    static constexpr auto schema() { return std::tuple{include(&Params::stopping)}; }
  } params;
  explicit Cg(Params p) : params(p) {}
  std::string name() const override { return "cg"; }
};

struct Gmres : Solver {
  struct Params {
    Stopping stopping;
    int restart = 30;
    Ortho ortho = Ortho::cgs2;
    Block preconditioner;
    static constexpr auto schema() {
      using P = Params;
      return std::tuple{
          include(&P::stopping),
          field(&P::restart, "restart", between(1, 1000), "Krylov vectors kept between restarts"),
          field(&P::ortho, "ortho", "orthogonalisation of the basis"),
          field(&P::preconditioner, "preconditioner", block_of("preconditioner"), "a second one")};
    }
  } params;
  explicit Gmres(Params p) : params(std::move(p)) {}
  std::string name() const override { return "gmres"; }
};

struct NonePrecond : Precond {
  using Params = NoParams;
  explicit NonePrecond(Params) {}
};

struct Jacobi : Precond {
  struct Params {
    std::optional<double> omega;
    static constexpr auto schema() {
      return std::tuple{field(&Params::omega, "omega", inside(0.0, 2.0), "damping")};
    }
  } params;
  explicit Jacobi(Params p) : params(p) {}
};

struct SolvePrecond : Precond {
  struct Params {
    Block solver{"cg"};
    static constexpr auto schema() {
      return std::tuple{field(&Params::solver, "solver", block_of("solver"), "the inner solver")};
    }
  } params;
  explicit SolvePrecond(Params p) : params(std::move(p)) {}
};

struct History {
  int every = 1;
  std::string file = "history.csv";
  static constexpr auto schema() {
    return std::tuple{field(&History::every, "every", positive(), "iterations between lines"),
                      field(&History::file, "file", non_empty(), "its name")};
  }
  bool operator==(History const&) const = default;
};

struct Output {
  std::string directory;
  bool solution = false;
  History history;
  std::vector<double> times;
  std::vector<std::string> tags{"a", "b c"};
  std::uint64_t seed = 1;
  std::int64_t offset = 0;
  static constexpr auto schema() {
    using P = Output;
    return std::tuple{field(&P::directory, "directory", "where files go"),
                      field(&P::solution, "solution", "write x"),
                      field(&P::history, "history", "the history file"),
                      field(&P::times, "times", positive(), "seconds at which x is saved"),
                      field(&P::tags, "tags", "free text | kept in the result"),
                      field(&P::seed, "seed", "of the random numbers"),
                      field(&P::offset, "offset", at_most(std::int64_t{1} << 40), "an offset")};
  }
  bool operator==(Output const&) const = default;
};

struct Problem {
  std::string matrix, generator;
  static constexpr auto schema() {
    return std::tuple{field(&Problem::matrix, "matrix", "a file"),
                      field(&Problem::generator, "generator", "a made-up matrix")};
  }
  std::string check() const {
    return matrix.empty() == generator.empty() ? "give one of 'matrix' and 'generator'" : "";
  }
};

struct RunConfig {
  Problem problem;
  Block preconditioner{"none"};
  Block solver;
  Output output;
  static constexpr auto schema() {
    using P = RunConfig;
    return std::tuple{field(&P::problem, "problem", "what is solved").required(),
                      field(&P::preconditioner, "preconditioner", block_of("preconditioner"), "M"),
                      field(&P::solver, "solver", block_of("solver"), "how").required(),
                      field(&P::output, "output", "what is written")};
  }
};

using SolverRegistry = Registry<Solver>;
using PrecondRegistry = Registry<Precond>;

struct Registries {
  SolverRegistry solvers{"solver"};
  PrecondRegistry preconds{"preconditioner"};
  Catalog catalog;
  Registries() {
    solvers.add<Cg>("cg", "conjugate gradients");
    solvers.add<Gmres>("gmres", "restarted GMRES");
    preconds.add<NonePrecond>("none", "the identity");
    preconds.add<Jacobi>("jacobi", "the diagonal");
    preconds.add<SolvePrecond>("solve", "a few steps of a solver");
    catalog.add(solvers).add(preconds);
  }
};

/// A whole config, as the program reads it. Throws ConfigError with all problems.
inline RunConfig read_run(std::string const& yaml, Registries const& registries,
                          std::vector<std::string> const& sets = {}) {
  ConfigNode root = parse_yaml(yaml, "my.yaml");
  Diagnostics problems;
  apply_sets(root, sets, problems);
  RunConfig run;
  read_params(root, run, problems, "the config", registries.catalog);
  problems.throw_if_any();
  return run;
}

}  // namespace tcsolve::sample
