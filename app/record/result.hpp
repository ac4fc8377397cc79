// SPDX-License-Identifier: Apache-2.0
/// The files of a run: result.json, history.csv or systems.csv, x.mtx or x.npy.
#pragma once

#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/record/profile.hpp>
#include <tcsolve/app/record/repeat.hpp>
#include <tcsolve/app/record/report.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>
#include <tcsolve/solvers/driver/batch_report.hpp>
#include <tcsolve/solvers/report.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tcsolve {

/// Wall-clock seconds of the phases of a run.
struct RunTimes {
  double read = 0;     ///< the files, or the generator
  double upload = 0;   ///< the matrix to the device
  double plan = 0;     ///< features, and which order and format
  double reorder = 0;  ///< orders of the matrix, taken or not, and the matrix in them
  double convert = 0;  ///< CSR to the format, on the device where there is one
  double setup = 0;    ///< preconditioner and solver, those too that `auto` made within a solve
  double repeat = 0;   ///< of `--repeat`: the warm-up and all solves but the last
  double solve = 0;
  double verify = 0;  ///< the error against the known solution, back on the host
  double probe = 0;   ///< of the memory's bandwidth, and of what the report shows
};

/// Bytes of memory at the peak, as stated before the run and as it was.
struct RunMemory {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double host_predicted = unknown;
  bool at_least = false;  ///< the predictions leave out factors of a size that the pattern decides
  double device_predicted = unknown, device_peak = unknown;
};

/// What A is stored in.
struct StoredOperator {
  double bytes = std::numeric_limits<double>::quiet_NaN();
  double per_entry = std::numeric_limits<double>::quiet_NaN();  ///< stored values over nonzeros
};

/// Seconds of parts of an iteration on a rank, each by itself; NaN where they are not known.
struct RankTimes {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double product = unknown;  ///< of its rows in its own columns
  double waiting = unknown;  ///< until the slowest rank has its product
  double halo = unknown;     ///< what the exchange, and the rows with it, add to the slowest
  double sum = unknown;      ///< what the others add to an inner product
};

/// What a rank had of the matrix.
struct RankShare {
  std::int64_t rows = 0, entries = 0;
  std::int64_t halo = 0;        ///< entries of x that come from others with each product
  std::int64_t neighbours = 0;  ///< ranks that it exchanges them with
  std::int64_t bytes = 0;       ///< that it sends with each product
  RankTimes times{};            ///< by themselves, after the solve
};

/// A part of the solve, where it was profiled.
struct ProfiledPart {
  Part part;
  PartTimes took;
  double bytes = std::numeric_limits<double>::quiet_NaN();  ///< estimate
};

/// A file with the rows of x that a rank had.
struct SolutionPart {
  std::string file;
  std::int64_t first_row = 0, rows = 0;  ///< from 0
};
/// Writes it; x: column after column. Throws Error where it cannot be written.
SolutionPart write_solution_part(OutputConfig const&, int rank, std::int64_t first_row,
                                 std::vector<double> const& x, Index columns);

/// The files beside result.json that this run wrote.
struct WrittenFiles {
  bool history = false, solution = false, plot = false, report = false, systems = false;
  std::vector<SolutionPart> parts;  ///< of x, of all ranks
  std::vector<std::string> failed;  ///< why those that were asked for are missing, if they are
};

struct RunResult {
  SolveReport report;                  ///< of the solver; nothing where there is a failure
  std::vector<SolveReport> columns;    ///< of each right-hand side, where there are several
  std::optional<BatchReport> systems;  ///< of each of many, the worst of which `report` is about
  std::vector<Index> starts;           ///< of their rows
  std::vector<Index> rows_of_x;        ///< that are written, from 0; empty: all
  std::int64_t iterations = 0;  ///< of all columns or systems, and of all that `auto` has tried
  /// Of the method that the run ended with, and of its iterations alone.
  double seconds_per_iteration = std::numeric_limits<double>::quiet_NaN();
  std::vector<ProfiledPart> profile;  ///< of `--profile`: they add up to the seconds of the solve
  std::optional<Failure> failure;     ///< what ended the run before its solver had an outcome
  WrittenFiles files;
  RunTimes times;
  double bandwidth = 0;  ///< bytes per second of a plain vector update; 0: not measured
  RunMemory memory;
  StoredOperator stored;
  std::vector<RankShare> ranks;          ///< empty where there was one
  cuda::Clocks clocks;                   ///< of the device after the solve; 0: unknown
  std::string driver;                    ///< CUDA version of the driver
  std::string hash;                      ///< of the matrix (io/plan_cache.hpp)
  std::optional<RepeatTimes> repeat;     ///< of `--repeat`
  Joules joules;                         ///< of a solve
  std::optional<MatrixPicture> picture;  ///< for report.html
  std::string source, device;
  std::string format;                     ///< that A was stored in
  std::optional<NarrowFigures> rounding;  ///< of its values, where they were stored in fewer bits
  Backend backend = Backend::host;
  Index rows = 0, cols = 0;
  Offset entries = 0;
  std::string preconditioner;               ///< what was done to make it
  std::optional<HierarchyFacts> hierarchy;  ///< its levels
  std::string precision;                    ///< what `precision: auto` has taken, and why
  std::optional<Reordering> reordering;     ///< what `operator.reorder` led to
  double solution_error = std::numeric_limits<double>::quiet_NaN();  ///< relative, in the 2-norm
  int exit_code = 6;
  std::vector<std::string> warnings;

  /// The outcome in a sentence, and which files could not be written.
  std::string message() const;
};

/// The content of result.json. NaN, and what was never computed, becomes null; infinity the text
/// "inf".
std::string result_json(RunResult const&, RunConfig const&);

/// Writes history.csv, of many systems systems.csv, x, the plot and the report if the config says
/// so and a solver ran, then result.json, each whole or not at all. Does not throw: a file that
/// cannot be written is named in run.files.failed, the others are written nevertheless, and the
/// exit code becomes 2.
void write_results(RunResult& run, RunConfig const&, std::vector<double> const& x);

}  // namespace tcsolve
