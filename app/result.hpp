// SPDX-License-Identifier: Apache-2.0
/// The files of a run.
#pragma once

#include <tcsolve/app/run_config.hpp>
#include <tcsolve/formats/reordering.hpp>
#include <tcsolve/solvers/report.hpp>

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
  double setup = 0;    ///< preconditioner and solver
  double solve = 0;
  double verify = 0;  ///< the error against the known solution, back on the host
};

/// Estimates from what operator, preconditioner and solver say of themselves.
struct RunTraffic {
  double bytes_per_iteration = 0, bytes = 0;
  double bandwidth = 0;  ///< bytes per second of a plain vector update; 0: not measured
};

struct RunResult {
  SolveReport report;
  RunTimes times;
  RunTraffic traffic;
  std::string source, device;
  std::string format;  ///< that A was stored in
  Backend backend = Backend::host;
  Index rows = 0, cols = 0;
  Offset entries = 0;
  std::optional<Reordering> reordering;  ///< what `operator.reorder` led to
  double solution_error = std::numeric_limits<double>::quiet_NaN();  ///< relative, in the 2-norm
  int exit_code = 6;
  std::vector<std::string> warnings;
};

/// The content of result.json. NaN becomes null, infinity the text "inf".
std::string result_json(RunResult const&, RunConfig const&);

/// Makes the directory if it is missing, and writes and removes a file in it. Throws Error with the
/// reason when that fails.
void prepare_directory(std::filesystem::path const& directory);

/// Writes result.json, and history.csv and x.mtx if the config says so. Each appears whole or not
/// at all. `x` may be empty: no x.mtx.
void write_results(RunResult const&, RunConfig const&, std::vector<double> const& x);

}  // namespace tcsolve
