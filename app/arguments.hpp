// SPDX-License-Identifier: Apache-2.0
/// The command line of `tcsolve`.
#pragma once

#include <string>
#include <vector>

namespace tcsolve {

enum class Task { solve, list, explain, info, reference, done };
enum class Talk { quiet, normal, verbose };

struct Arguments {
  Task command = Task::done;      ///< done: help or version was printed, or the usage is wrong
  int exit_code = 0;              ///< for `done`
  std::string subject;            ///< config, matrix, path to explain, or folder of the reference
  std::vector<std::string> sets;  ///< key.path=value, those of --backend and --output included
  Talk talk = Talk::normal;
  bool dry_run = false;
};

/// Prints help, version and usage errors itself.
Arguments parse_arguments(int argc, char const* const* argv);

}  // namespace tcsolve
