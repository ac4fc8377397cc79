// SPDX-License-Identifier: Apache-2.0
/// A run drawn from a seed: a small system and a config for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tcsolve/core/types.hpp>

namespace tcsolve::fuzz {

struct Value {
  Index row, column;
  double value;
};

/// A x = b from x0, as it stands in the files.
struct System {
  Index rows = 0, cols = 0;
  std::vector<Value> entries;                  ///< explicit zeros among them
  std::vector<double> b, x0;                   ///< x0: (cols), zero when the config names no file
  std::vector<std::vector<double>> more;       ///< further right-hand sides
  std::vector<std::vector<double>> nullspace;  ///< vectors, of which A z may be anything
  bool finite = true;                          ///< false: NaN or Inf in b or x0
};

/// The keys of the config that decide what its verdict must be.
struct Keys {
  std::string solver, preconditioner, format, values, reorder, baseline;
  double rtol = 0, atol = 0;
  int max_iters = 0;
  bool lower = false;      ///< types by keys that need not go together
  bool automatic = false;  ///< `precision: auto`, whose FP32 may take max_iters beside FP64's
  bool constant = false;   ///< the nullspace is said to hold the constant vector
};

struct Case {
  System system;
  Keys keys;
  std::string yaml;  ///< names a.mtx, b.mtx, x0.mtx and z.txt
};

/// The same seed gives the same case, but for the last bits of what Eigen and std::pow compute.
/// `backend` is the key of the config.
Case drawn(std::uint64_t seed, std::string const& backend);

/// Writes case.yaml and the files it names.
void write(Case const&, std::filesystem::path const& folder);

}  // namespace tcsolve::fuzz
