// SPDX-License-Identifier: Apache-2.0
/// Starts the program `tcsolve` in a folder of its own and looks at what it leaves.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.hpp"

namespace tcsolve::cli {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

struct Outcome {
  int code = -1;  ///< exit code; 128 + signal when a signal ended it
  std::string out, err;
  /// The last line on standard output.
  std::string verdict() const;
};

using test::read_text, test::write_text;

inline bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// The root of the source tree: TCSOLVE_SOURCE_DIR of the environment, or of the build.
fs::path source_dir();

/// Every test has an empty folder, in which programs run.
class Program : public testing::Test {
 protected:
  /// Starts `command` (the first is a program), standard output and error into files.
  pid_t start(Arguments const& command, int terminal = -1);
  Outcome wait(pid_t process);
  Outcome run(Arguments const& command) { return wait(start(command)); }
  /// tcsolve with these arguments.
  Outcome tcsolve(Arguments arguments);
  /// tcsolve with a config of this text, in my.yaml.
  Outcome solve(std::string const& yaml, Arguments more = {});
  Arguments command(Arguments arguments);
  /// `tcsolve calibrate FILE --size SIZE` on the host, again where the machine was too busy.
  Outcome calibrated(std::string const& file, std::string const& size);

  nlohmann::json result(fs::path const& directory = "tcsolve-out") const;
  /// True when no temporary file was left in `directory`.
  bool tidy(fs::path const& directory = "tcsolve-out") const;

  test::TemporaryFolder folder_;
};

/// The square of the second difference on a line, plus 1e-6, its rows in an order of chance: cg
/// with jacobi does not solve it in a trial, complete factors have no fill, and it has more entries
/// than auto makes them of at once.
void write_beam(fs::path const& file);

/// A small system that cg solves in some iterations, and room for more keys.
inline constexpr char const* small_config =
    "problem: {generator: {type: poisson7, n: 8, coefficient: random}}\n"
    "preconditioner: {type: jacobi}\n"
    "solver: {type: cg}\n";

/// A solve that takes minutes.
inline constexpr char const* long_config =
    "problem: {generator: {type: convdiff, n: 80, velocity: 10}, rhs: random}\n"
    "solver: {type: lsmr, rtol: 1.0e-15, max_iters: 100000000, stagnation_window: 0}\n"
    "output: {bandwidth: false}\n";

}  // namespace tcsolve::cli
