// SPDX-License-Identifier: Apache-2.0
/// A function in a process of its own: its memory, its times and its faults are no others'.
#pragma once

#include <tcsolve/app/run/signals.hpp>

#include <filesystem>
#include <functional>
#include <string>

namespace tcsolve {

/// How a process ended; neither where it was not begun.
struct ProcessEnd {
  int exit_code = -1;
  int signal = 0;
};

/// f() in a copy of this process, which has no threads yet and computes nothing itself; what f()
/// prints goes to the file `log`, standard input is empty. Waits for its end. Not begun where a
/// signal has come. Throws Error where there can be no process, or no log.
ProcessEnd run_aside(PassSignalsOn& signals, std::filesystem::path const& log,
                     std::function<int()> const& f);

}  // namespace tcsolve
