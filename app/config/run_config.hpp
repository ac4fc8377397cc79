// SPDX-License-Identifier: Apache-2.0
/// What a config of the program `tcsolve` may say.
#pragma once

#include <tcsolve/api/options.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tcsolve {

/// What a PETSc file leaves open.
struct PetscConfig {
  PetscScalar scalar = PetscScalar::automatic;

  static constexpr auto schema() {
    return std::tuple{field(
        &PetscConfig::scalar, "scalar",
        "its values, whose type no such file says: float64 or float32; auto: float64, unless they "
        "look like the complex numbers of a build in single precision, which is an error")};
  }
};

/// Many small systems that are solved at once.
struct BatchConfig {
  std::vector<std::string> files;
  Block generator;
  int count = 1;
  std::string vary = "seed";

  bool empty() const { return files.empty() && !generator; }
  static constexpr auto schema() {
    using P = BatchConfig;
    return std::tuple{
        field(&P::files, "files",
              "a matrix each, or folders, of which every matrix is taken, by its name; [A.mtx, "
              "B.mtx] alone is another way to write them"),
        field(&P::generator, "generator", block_of("generator"), "generated matrices instead"),
        field(&P::count, "count", between(1, 10'000'000), "how many are generated"),
        field(&P::vary, "vary",
              "an integer key of the generator, to which 0, 1, 2, ... are added; empty: all are "
              "alike")};
  }
  std::string check() const;
};

struct ProblemConfig {
  std::string matrix;
  Block generator;
  BatchConfig batch;
  std::string rhs = "A_times_ones";
  int columns = 1;
  std::vector<int> units;
  std::string x0 = "zero";
  std::string solution;
  PetscConfig petsc;

  static constexpr auto schema() {
    using P = ProblemConfig;
    return std::tuple{
        field(&P::matrix, "matrix",
              "a file: Matrix Market, Harwell- or Rutherford-Boeing, SciPy .npz, PETSc binary, "
              "MATLAB "
              "5 to 7, or tar of the SuiteSparse collection; - is standard input"),
        field(&P::generator, "generator", block_of("generator"), "a generated matrix instead"),
        field(&P::batch, "batch",
              "many small systems instead, solved at once, with a verdict for each; rhs, x0 and "
              "solution are those of all, end to end"),
        field(
            &P::rhs, "rhs", non_empty(),
            "b: a file, of several columns if it has them, or ones, random (in [-1, 1), drawn from "
            "`seed`) or A_times_ones; {file: NAME} and {columns: K} are other ways to write a file "
            "and K random columns, and {units: [1, 500]} asks for columns of the identity; where "
            "it is not given, b of a PETSc or MATLAB file that holds "
            "one is taken"),
        field(&P::columns, "columns", between(1, 1 << 20),
              "right-hand sides, where rhs is random; a block method solves them together"),
        field(
            &P::units, "units", at_least(1),
            "where rhs is units: rows, from 1; a right-hand side for each, which is 1 there and 0 "
            "elsewhere, so that x is that column of the inverse"),
        field(&P::x0, "x0", non_empty(), "initial guess: a file, or zero or random"),
        field(&P::solution, "solution",
              "file with the known solution; the error against it is reported"),
        field(&P::petsc, "petsc", "how a PETSc file is read")};
  }
  std::string check() const {
    if (!matrix.empty() && generator) return "give one of 'matrix' and 'generator', not both";
    bool const one = !matrix.empty() || generator;
    if (one && !batch.empty()) return "a 'batch' stands in the place of 'matrix' and 'generator'";
    if (!one && batch.empty()) return "give a 'matrix' or a 'generator', or a 'batch' of them";
    if (columns > 1 && !batch.empty()) return "a 'batch' has one right-hand side";
    if (units.empty() != (rhs != "units"))
      return "'rhs: units' and the list 'units' belong together: rhs: {units: [1, 500]}";
    if (!units.empty() && !batch.empty())
      return "a 'batch' has one right-hand side; 'units' gives others";
    if (columns > 1 && rhs != "random")
      return "'columns' is for 'rhs: random'; a file has as many as it holds";
    return "";
  }
};

/// What x is written as.
enum class SolutionFormat { mtx, npy };
constexpr auto names(SolutionFormat) {
  return std::array{std::pair{SolutionFormat::mtx, "mtx"}, std::pair{SolutionFormat::npy, "npy"}};
}

struct OutputConfig {
  std::string directory = "tcsolve-out";
  bool solution = false;
  bool solution_parts = false;
  SolutionFormat solution_format = SolutionFormat::mtx;
  std::string rows;
  bool history = true;
  bool plot = false;
  bool report = false;
  bool bandwidth = true;
  int every = 0;

  static constexpr auto schema() {
    using P = OutputConfig;
    return std::tuple{
        field(&P::directory, "directory", non_empty(),
              "where result.json and the other files go, from the working directory; made if "
              "missing; {name} in it stands for the name of the matrix"),
        field(&P::solution, "solution", "write x.mtx, or x.npy"),
        field(&P::solution_parts, "solution_parts",
              "each rank writes its own rows of x instead, x.0.mtx, x.1.mtx, ... or .npy, whose "
              "first rows result.json names; no rank gets the whole x, and rows stay in the order "
              "of the matrix"),
        field(&P::solution_format, "solution_format",
              "mtx: Matrix Market; npy: NumPy, float64 of shape (n,)"),
        field(&P::rows, "rows",
              "a file with numbers of rows, from 1, one a line: x.mtx, or x.npy, is written, and "
              "holds these rows of x alone, in this order"),
        field(&P::history, "history",
              "write history.csv: iteration, residual, seconds, true residual where it was "
              "evaluated, marks of restarts and methods"),
        field(&P::plot, "plot", "write convergence.svg, drawn by gnuplot"),
        field(&P::report, "report",
              "write report.html: the run on a page that opens without a network; needs gnuplot"),
        field(&P::bandwidth, "bandwidth",
              "measure the memory bandwidth by short vector updates, to compare the solve with; of "
              "several ranks time a product, its halo and a sum instead"),
        field(&P::every, "every", non_negative(),
              "iterations between progress lines when piped; 0: after 1, 2, 5, 10, 20, 50, ...")};
  }
  /// x as a whole, or the rows of it that are named.
  bool writes_x() const { return !solution_parts && (solution || !rows.empty()); }
  std::string check() const {
    return solution_parts && !rows.empty()
               ? "'rows' names rows of the whole x, and 'solution_parts' writes no whole one"
               : "";
  }
};

/// How many processes solve the system together, who has which rows, and on which GPU.
constexpr auto names(DeviceTransport) {
  using T = DeviceTransport;
  return std::array{std::pair{T::automatic, name(T::automatic)}, std::pair{T::peer, name(T::peer)},
                    std::pair{T::nccl, name(T::nccl)}, std::pair{T::mpi, name(T::mpi)}};
}

struct RanksConfig {
  std::string asked = "0";  ///< the key `count`
  std::vector<int> devices;
  DeviceTransport transport = DeviceTransport::automatic;
  std::string partition = "auto";
  double timeout = 30;
  int count = 0;  ///< `asked` as a number, 0 where that is auto; in the end, how many there are

  static constexpr int most = 64;
  bool is_auto() const { return asked == "auto"; }
  static constexpr auto schema() {
    using P = RanksConfig;
    return std::tuple{
        field(
            &P::asked, "count", non_empty(),
            "processes, each with a stretch of the rows, started by this one: 1 to 64; 1: it "
            "solves alone; 0: those that an MPI launcher has started (mpirun), else 1; auto: those "
            "of a launcher, else as many as there are GPUs, or fewer where more would be slower, "
            "and 1 on the host, where its threads do what ranks would"),
        field(
            &P::devices, "devices", between(0, 1023),
            "the GPU of each rank, [0, 2]: then all compute on GPUs, or it is an error; auto: GPU "
            "k for rank k of a host, where there are as many as ranks"),
        field(&P::transport, "transport",
              "what joins GPUs. peer: their kernels store into each other's memory, on one host; "
              "nccl: NCCL, where libnccl.so.2 is found; mpi: messages through the memory of the "
              "hosts, of an MPI launcher or without one, also for ranks on one GPU; auto: the "
              "first of these that works. Ranks on the host have messages: auto or mpi"),
        field(
            &P::partition, "partition", non_empty(),
            "rows: stretches of the rows as given, of about equally many entries; grow: of a "
            "breadth-first order; metis: parts by METIS; a file with the part of each row, from "
            "0; auto: rows, or grow where that leaves at most half as much for ranks to exchange"),
        field(&P::timeout, "timeout", above(0.0),
              "seconds that a rank waits for another one, which is not at work by itself, before "
              "all end")};
  }
  std::string check() const;
};

/// The options of the solver, and what is solved and written.
struct RunConfig : SolverOptions {
  ProblemConfig problem;
  OutputConfig output;
  RanksConfig ranks;
  double time_limit = std::numeric_limits<double>::infinity();

  static constexpr auto schema() {
    using P = RunConfig;
    return std::tuple_cat(
        std::tuple{field(&P::problem, "problem", "what is solved").required()}, system_keys(),
        std::tuple{field(&P::output, "output", "what is written"),
                   field(&P::ranks, "ranks", "several processes that solve together"),
                   field(&P::time_limit, "time_limit", above(0.0).or_infinite(),
                         "seconds that the whole run may take, from the start of "
                         "the program: reading and set-up, too")},
        run_keys());
  }
};

/// Where the input files of a run are, resolved; empty when there is none.
struct InputFiles {
  std::filesystem::path matrix, rhs, x0, solution, partition, rows;
  std::vector<std::filesystem::path> batch;  ///< one of each system

  /// Those that there are.
  std::vector<std::filesystem::path> all() const;
};

struct ParsedConfig {
  RunConfig run;
  InputFiles files;
  std::string missing;       ///< input files that are not there, one line each
  std::string ranks_chosen;  ///< what was decided where `ranks.count` is auto, and why; else empty

  /// Throws MatrixError when an input file is not there.
  void require_files() const;
};

/// Reads the file and applies the sets. A path in the file is relative to the file's directory, one
/// that a set gives to the working directory. Throws ConfigError with all problems at once.
ParsedConfig read_config(std::string const& path, std::vector<std::string> const& sets,
                         Catalog const& catalog);
/// The same for a tree whose file lies in `folder`.
ParsedConfig read_config(ConfigNode root, std::filesystem::path const& folder,
                         std::vector<std::string> const& sets, Catalog const& catalog);

/// `solver: cg` becomes `solver: {type: cg}`, so that a set finds its keys; so do the other blocks.
void unfold_blocks(ConfigNode& root, Catalog const& catalog);

/// What is solved, in a word: the matrix file without folder and endings, the generator's name, or
/// "batch".
std::string problem_name(ProblemConfig const&);

/// `directory` with `name` in the place of {name}.
std::string with_name(std::string directory, std::string const& name);

}  // namespace tcsolve
