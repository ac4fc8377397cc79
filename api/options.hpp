// SPDX-License-Identifier: Apache-2.0
/// The options of a solver, given in C++, in YAML text or in a file; one schema describes all
/// three.
///
///     SolverOptions{.solver = {"cg", CgParams{.stopping = {.rtol = 1e-10}}},
///                   .preconditioner = "jacobi"}
///     SolverOptions::from_yaml("solver: {type: cg, rtol: 1e-10}\n"
///                              "preconditioner: {type: jacobi}\n")
///     SolverOptions::from_file("solver.yaml")
///
/// The keys and their meaning are in docs/reference/. Params structs are declared beside their
/// classes: CgParams in solvers/cg/cg.hpp, ChebyshevParams in precond/smoother.hpp.
/// Options written in C++ are checked by the same schema as YAML.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tcsolve/api/registries.hpp>
#include <tcsolve/api/renewal.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/precond/system.hpp>

namespace tcsolve {

constexpr auto names(Backend) {
  return std::array{std::pair{Backend::automatic, "auto"}, std::pair{Backend::host, "host"},
                    std::pair{Backend::cuda, "cuda"}};
}

struct CacheConfig {
  std::string directory;
  double limit = 1024;

  static constexpr auto schema() {
    using P = CacheConfig;
    return std::tuple{
        field(&P::directory, "directory",
              "directory (relative to the working directory) that stores reorderings and measured "
              "formats per sparsity pattern; empty: no cache; safe to share between runs"),
        field(&P::limit, "limit", above(0.0), "MB in all; what was used longest ago is removed")};
  }
};

/// Whether A is symmetric, where the caller knows it.
enum class Symmetry { automatic, yes, no };
constexpr auto names(Symmetry) {
  return std::array{std::pair{Symmetry::automatic, "auto"}, std::pair{Symmetry::yes, "true"},
                    std::pair{Symmetry::no, "false"}};
}

/// The types of the matrix and of the method's vectors, as one word.
enum class PrecisionChoice { automatic, fp64, fp32, fp16 };
constexpr auto names(PrecisionChoice) {
  return std::array{
      std::pair{PrecisionChoice::automatic, "auto"}, std::pair{PrecisionChoice::fp64, "fp64"},
      std::pair{PrecisionChoice::fp32, "fp32"}, std::pair{PrecisionChoice::fp16, "fp16"}};
}

/// Whether a solve goes on in wider types where rounding may be why it ends.
enum class StepUp { automatic, never };
constexpr auto names(StepUp) {
  return std::array{std::pair{StepUp::automatic, "auto"}, std::pair{StepUp::never, "never"}};
}

/// The nullspace of a singular A, as far as it is known: A z = 0 for every z of its span.
struct NullspaceConfig {
  bool constant = false;
  std::vector<std::string> files;
  std::vector<std::vector<double>> vectors;  ///< in C++ only

  bool empty() const { return !constant && files.empty() && vectors.empty(); }
  static constexpr auto schema() {
    using P = NullspaceConfig;
    return std::tuple{
        field(&P::constant, "constant", "the vector of ones: pressures, potentials, graphs"),
        field(&P::files, "files",
              "each with one vector or several columns (relative to the config's folder)")};
  }
};

/// The vectors that span it, of n entries each, as they are given; `files` have been read. Throws
/// ShapeError where one has another length.
std::vector<std::vector<double>> nullspace_vectors(NullspaceConfig const&, Index n);

struct SolverOptions {
  Block solver;
  Block preconditioner{"none"};
  Block matrix_operator{"auto", "format"};  ///< the YAML key `operator`, a reserved word in C++
  Renew renew = Renew::always;
  Symmetry symmetric = Symmetry::automatic;
  PrecisionChoice precision = PrecisionChoice::fp64;
  StepUp step_up = StepUp::automatic;
  NullspaceConfig nullspace = {};
  CacheConfig cache = {};

  // Of the Context that a LinearSolver makes for itself; a caller's Context has its own.
  Backend backend = Backend::automatic;
  std::uint64_t seed = 1;
  bool deterministic = true;
  int threads = 0;

  // In C++ only.
  int columns = 0;  ///< right-hand sides of a solve, about, by which a block method's
                    ///< format is chosen; 0: not known
  /// What is known of the unknowns besides A, for amg where its keys do not say.
  std::shared_ptr<NodeFacts const> nodes = nullptr;
  int device = 0;              ///< CUDA ordinal (ContextOptions::device)
  void* stream = nullptr;      ///< the caller's stream (ContextOptions::stream)
  bool check_matrices = true;  ///< check host matrices before they are used

  /// From YAML text, `name` in messages. `problem`, `output` and `time_limit`, which the program's
  /// configs have as well, are ignored. Throws ConfigError with all problems, one
  /// `name:line:column: text` a line. A path in the text is relative to the working directory.
  static SolverOptions from_yaml(std::string const& text, std::string const& name = "options");
  /// The same from a file. `operator.calibration` in it is relative to its folder.
  static SolverOptions from_file(std::string const& path);

  /// Keys of the operator, the preconditioner and the method.
  static constexpr auto system_keys() {
    using P = SolverOptions;
    return std::tuple{
        field(&P::matrix_operator, "operator", block_of("operator"), "how the matrix is stored"),
        field(&P::preconditioner, "preconditioner", block_of("preconditioner"),
              "M, an approximation of A^-1"),
        field(&P::renew, "renew",
              "the preconditioner after new values: always, made of them; auto, made anew once the "
              "old one costs more, by the times measured, or fails; never, kept until it fails"),
        field(&P::symmetric, "symmetric",
              "what is known of A, for the choices of auto, for factors, and for solves with A^T, "
              "which take A itself where it is true; auto: by the entries"),
        field(
            &P::precision, "precision",
            "of the matrix and the method's vectors; x, and the residual that `converged` goes by, "
            "are FP64 in any case. fp64: as operator.values and solver.vectors say; fp32: both; "
            "fp16: the matrix in FP16 with row sums kept, vectors in FP32; auto: fp32 for cg, "
            "bicgstab and gmres where memory is what the solve waits for, as long as its steps see "
            "no condition that is too large for it, else fp64"),
        field(&P::step_up, "step_up",
              "where the rounding of narrower values may be why a solve, or the storing of A, "
              "fails: auto stores A in the next wider type (fp16 or bf16, fp32, fp64, and then "
              "vectors in fp64 too) and goes on from x; never ends the solve as "
              "precision_limit:values"),
        field(&P::nullspace, "nullspace",
              "vectors z with A z = 0, which b, residuals and x are kept free of"),
        field(&P::solver, "solver", block_of("solver"),
              "how it is solved; where no type is named: auto, and the preconditioner's auto too "
              "unless it is named")};
  }
  /// Keys of the Context and the cache.
  static constexpr auto run_keys() {
    using P = SolverOptions;
    return std::tuple{
        field(&P::cache, "cache", "results kept for later runs"),
        field(&P::backend, "backend", "auto takes the GPU when there is one, else the host"),
        field(&P::seed, "seed", "of random vectors and probes; generators have their own"),
        field(&P::deterministic, "deterministic", "the same bits on every run"),
        field(&P::threads, "threads", between(0, 1024),
              "of the host: that work at a large loop; 0: OMP_NUM_THREADS if it is set, else one "
              "for each processor. Results do not depend on it")};
  }
  static constexpr auto schema() { return std::tuple_cat(system_keys(), run_keys()); }
};

/// The options with every block read by `registries`; a block that has been read already keeps
/// the registry that read it, and the files of the nullspace as vectors. Throws ConfigError with
/// all problems, each with the place `options` or the key it stands in, and what
/// read_columns_file() throws.
SolverOptions read_options(SolverOptions options,
                           SolverRegistries const& registries = solver_registries());
/// Options from a tree. Throws as from_yaml().
SolverOptions read_options(ConfigNode tree,
                           SolverRegistries const& registries = solver_registries());

/// A tree that names no method leaves the choice to `auto`: of the method, and of M where it names
/// none either.
void choose_where_unnamed(ConfigNode& tree);

/// Makes the paths in the options of a tree, read from a file in `folder`, relative to the working
/// directory. Paths from `--set` are so already.
void resolve_paths(ConfigNode& tree, std::string const& folder);

}  // namespace tcsolve
