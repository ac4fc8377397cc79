// SPDX-License-Identifier: Apache-2.0
/// What a file for `tcsolve sweep` says: a config, and in its block `sweep` what changes from run
/// to run.
///
///     solver: {type: cg, rtol: 1.0e-10}                  # the config of every run
///     sweep:
///       problems: [A.mtx, folder, {generator: {type: poisson7, n: 32}}]
///       variants:                                        # keys that change together, by a name
///         FP64: {}
///         FP32: {operator.values: fp32, solver.vectors: fp32}
///       keys: {preconditioner.type: [jacobi, ic]}        # keys that change by themselves
///
/// is 2 x 2 settings of each problem. The keys are those of the config, and read as such.
#pragma once

#include <tcsolve/app/config/run_config.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace tcsolve {

/// One place of an axis: its name in tables, and what it writes into the config.
struct SweepValue {
  struct Key {
    std::string path;  ///< as of --set: "solver.rtol"
    Position at;
    ConfigNode value;
  };
  std::string label;
  std::vector<Key> keys;
};

/// What changes by itself: a key with its values, or the variants.
struct SweepAxis {
  std::string name;
  std::vector<SweepValue> values;
  /// Its values are problems, not ways to solve them.
  bool of_problem() const { return name == "problem" || name.starts_with("problem."); }
};

/// A value as tables name it: "fp32", "gmres (restart: 50)".
std::string label_of(ConfigNode const& value);

/// Reports a name that two of a list have, which no table could tell apart.
void require_distinct(std::vector<SweepValue> const& values, Position const& at,
                      std::string const& what, Diagnostics& problems);

/// Parts of `sweep` whose keys are the user's: a map from key paths to lists of values, one from
/// names to maps of key paths and values, and a list of files, folders and `problem` blocks. Each
/// has a read_params() of its own, and no schema to be listed.
struct SweepKeys {
  std::vector<SweepAxis> axes;
  static constexpr auto schema() { return std::tuple{}; }
};
struct SweepVariants {
  std::vector<SweepValue> values;
  static constexpr auto schema() { return std::tuple{}; }
};
struct SweepProblems {
  std::vector<ConfigNode> items;
  static constexpr auto schema() { return std::tuple{}; }
};
bool read_params(ConfigNode const&, SweepKeys&, Diagnostics&, std::string const& what,
                 Catalog const&);
bool read_params(ConfigNode const&, SweepVariants&, Diagnostics&, std::string const& what,
                 Catalog const&);
bool read_params(ConfigNode const&, SweepProblems&, Diagnostics&, std::string const& what,
                 Catalog const&);

struct SweepConfig {
  SweepProblems problems;
  SweepKeys keys;
  SweepVariants variants;
  std::string baseline;
  int repeats = 5;
  bool attainable = false;

  static constexpr auto schema() {
    using P = SweepConfig;
    return std::tuple{
        field(&P::problems, "problems",
              "a list: files, folders, of which every matrix is taken, and blocks as 'problem' is "
              "one, whose keys stand in the place of its; without it, 'problem' alone"),
        field(&P::keys, "keys",
              "a list of values for each key, e.g. solver.type: [cg, minres] or solver: [{type: "
              "cg}, {type: gmres, restart: 50}]; every combination is a setting"),
        field(&P::variants, "variants",
              "by a name, keys that change together, e.g. FP32: {operator.values: fp32, "
              "solver.vectors: fp32}; each with every combination of 'keys'"),
        field(&P::baseline, "baseline",
              "a key of 'keys', or 'variants', whose first value the others are compared with, in "
              "each combination of the rest; empty: with the first setting of all"),
        field(&P::repeats, "repeats", between(1, 1'000'000),
              "solves of each setting that are timed, after one to warm up"),
        field(&P::attainable, "attainable",
              "solve once more with rtol 0, which shows how small the true residual becomes")};
  }
};

/// A config with `sweep` in it.
struct SweepFile : RunConfig {
  SweepConfig sweep;
  static constexpr auto schema() {
    return std::tuple_cat(
        RunConfig::schema(),
        std::tuple{field(&SweepFile::sweep, "sweep",
                         "for `tcsolve sweep`: what changes from run to run; all other keys are "
                         "those of every run")});
  }
};

}  // namespace tcsolve
