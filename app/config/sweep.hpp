// SPDX-License-Identifier: Apache-2.0
/// The runs that a file for `tcsolve sweep` asks for.
#pragma once

#include <tcsolve/app/config/sweep_config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tcsolve {

/// One run.
struct SweepPoint {
  std::size_t problem = 0, setting = 0;  ///< numbers in Sweep's lists
  bool attainable = false;               ///< with rtol 0, once
  ParsedConfig parsed;
  std::string name;  ///< of its folder: the same for the same config and number of solves
};

/// All runs of a file, and how they are told apart.
struct Sweep {
  SweepConfig config;
  std::string directory;                           ///< `output.directory`
  std::vector<std::string> problems;               ///< their names
  std::vector<std::string> axes;                   ///< of the settings
  std::vector<std::vector<std::string>> settings;  ///< the value of each axis
  std::vector<std::size_t> baseline;               ///< the setting that each is compared with
  std::vector<SweepPoint> points;                  ///< by problems, then by settings

  /// "operator.values fp32, solver.type cg"; the name alone of a variant.
  std::string setting_text(std::size_t setting) const;
};

/// Reads `file`, applies the sets to it, and the config of every run: nothing is wrong with the
/// keys of any of them. Throws ConfigError with all problems at once, MatrixError for files that
/// are not there.
Sweep read_sweep(std::string const& file, std::vector<std::string> const& sets, Catalog const&);

}  // namespace tcsolve
