// SPDX-License-Identifier: Apache-2.0
/// Joules of a solve: of the device by NVML, of the host by RAPL.
#pragma once

#include <tcsolve/core/context.hpp>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace tcsolve {

/// `value` is NaN where it is not known; `note` says what it is of, or why it is not known.
struct Joules {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string note;
};

/// The energy counters of the processors and their memory that Linux keeps below a folder:
/// intel-rapl:N is a package, intel-rapl:N:M with the name `dram` its memory.
class Rapl {
 public:
  explicit Rapl(std::filesystem::path const& powercap = "/sys/class/powercap");
  /// Why nothing can be read; empty where it can.
  std::string const& why() const { return why_; }
  /// "RAPL: package-0, dram".
  std::string text() const;
  /// Microjoules of each counter; empty where one of them cannot be read.
  std::vector<double> read() const;
  /// Joules between two readings. A counter goes round; NaN where in so many seconds it may have
  /// done so more than once.
  double between(std::vector<double> const& before, std::vector<double> const& after,
                 double seconds) const;

 private:
  struct Counter {
    std::filesystem::path file;
    std::string name;
    double range;  ///< microjoules after which it begins again
  };
  std::vector<Counter> counters_;
  std::string why_;
};

/// Counts from start() on.
class EnergyMeter {
 public:
  explicit EnergyMeter(Context& ctx, std::filesystem::path const& powercap = "/sys/class/powercap");
  void start();
  /// Of one of the `solves` that have run for `seconds` since start(). Without a value where that
  /// is shorter than what the counters tell apart: RAPL's advance every millisecond, NVML's every
  /// tenth of a second or so.
  Joules per_solve(double seconds, std::size_t solves) const;

 private:
  Context& ctx_;
  Rapl rapl_;
  std::vector<double> before_;  // of RAPL's counters
  double device_before_ = 0;
};

}  // namespace tcsolve
