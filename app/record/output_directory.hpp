// SPDX-License-Identifier: Apache-2.0
/// Where the files of a run go, and what they are called.
#pragma once

#include <tcsolve/app/config/run_config.hpp>

#include <filesystem>
#include <string>

namespace tcsolve {

namespace record {
inline constexpr char const* result_name = "result.json";
inline constexpr char const* history_name = "history.csv";
inline constexpr char const* systems_name = "systems.csv";
inline constexpr char const* plot_name = "convergence.svg";
inline constexpr char const* report_name = "report.html";
/// x.mtx or x.npy.
char const* solution_name(OutputConfig const&);
/// x.3.mtx or x.3.npy, of rank 3.
std::string part_name(OutputConfig const&, int rank);
}  // namespace record

/// A directory that no other run writes into as long as this lives.
class LockedDirectory {
 public:
  /// Makes the directory if it is missing, and writes and removes a file in it. Throws Error with
  /// the reason when that fails, and where another run has it.
  explicit LockedDirectory(std::filesystem::path const&);
  ~LockedDirectory();
  LockedDirectory(LockedDirectory const&) = delete;
  LockedDirectory& operator=(LockedDirectory const&) = delete;

 private:
  int lock_;  // the directory, locked by flock; -1 where the file system has no locks
};

/// The output directory of a run, its own as long as this lives.
class OutputDirectory {
 public:
  /// Removes the results of an older run, which could be taken for those of this one; a file that
  /// this run reads stays. Throws Error as LockedDirectory does.
  OutputDirectory(OutputConfig const&, InputFiles const&);
  /// The source of the matrix whose result was removed; empty where there was none.
  std::string const& replaced() const { return replaced_; }

 private:
  LockedDirectory lock_;
  std::string replaced_;
};

/// Throws ConfigError when x.mtx would replace the matrix, the right-hand side or the known
/// solution; it may replace the guess that led to it.
void require_inputs_to_stay(OutputConfig const&, InputFiles const&);

}  // namespace tcsolve
