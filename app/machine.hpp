// SPDX-License-Identifier: Apache-2.0
/// Where and when this process runs, for the record of a run. What the system does not tell is
/// empty, or NaN.
#pragma once

#include <string>
#include <vector>

namespace tcsolve {

/// Seconds since this process began, its loading included; to a hundredth.
double process_seconds();
/// Bytes of memory that this process has held at most (VmHWM).
double peak_memory();
std::string host_name();
/// The model name of the processor.
std::string cpu_name();
/// Now, as 2026-11-23T18:10:00Z.
std::string utc_now();
/// The words that this process was started with.
std::vector<std::string> command_line();

}  // namespace tcsolve
