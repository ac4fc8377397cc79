// SPDX-License-Identifier: Apache-2.0
/// The command line of `tcsolve`.
#pragma once

#include <tcsolve/core/context.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tcsolve {

enum class Task {
  solve,
  list,
  explain,
  info,
  init,
  advise,
  generate,
  calibrate,
  sweep,
  reference,
  done
};
enum class Talk { quiet, normal, verbose };

struct Arguments {
  Task command = Task::done;  ///< done: help or version was printed, or the usage is wrong
  int exit_code = 0;          ///< for `done`
  std::string subject;        ///< config, matrix, path to explain, generator, cost table, ...
  std::string rhs;            ///< of a solve without a config, and of `advise`
  std::string calibration;    ///< of `info`: a cost table
  Backend backend =
      Backend::automatic;            ///< of `calibrate` and `advise`; in a solve one of the sets
  double size = 1;                   ///< of `calibrate`
  std::string file;                  ///< of `generate`: where the matrix goes
  bool json = false;                 ///< of `info` and `advise`
  bool graph = false;                ///< of `info`
  bool amg = false;                  ///< of `info`
  bool all = false;                  ///< of `advise`: every candidate runs to its end
  std::optional<double> rtol;        ///< of `advise`; in a solve one of the sets
  std::optional<double> time_limit;  ///< seconds; of `advise`; in a solve one of the sets
  bool profile = false;              ///< of a solve: the seconds of its parts
  int repeat = 0;                    ///< of a solve: timed ones after a warm-up; 0: one
  std::vector<std::string> sets;     ///< key.path=value, those of --backend, --output, ... included
  Talk talk = Talk::normal;
  bool dry_run = false;
};

/// Prints help, version and usage errors itself. An option that the command does not use is one.
Arguments parse_arguments(int argc, char const* const* argv);

}  // namespace tcsolve
