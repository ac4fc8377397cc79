// SPDX-License-Identifier: Apache-2.0
/// What a preconditioner that is made of levels tells of them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

struct LevelFacts {
  Index rows = 0;
  Offset entries = 0;
  double strength = 0;          ///< threshold of what counts as coupled
  Offset prolongation = 0;      ///< entries of what leads to it from the next level, 0: none does
  std::string formats, values;  ///< that its matrices are stored in
  double bytes = 0;             ///< of these
  double product = 0;           ///< us of a product with its matrix; 0: not measured
};

struct HierarchyFacts {
  std::vector<LevelFacts> levels;  ///< the finest first
  double grid_complexity = 1;      ///< rows of all levels over those of the first
  double operator_complexity = 1;  ///< entries, likewise
  Index unknowns = 1;              ///< of a node, rows that follow each other
  bool symmetric = true;           ///< A is, up to rounding, as the set-up has found
  /// ||A z||_1 / || |A| |z| ||_1 of each vector z that the coarse levels represent.
  std::vector<double> near_nullspace;
  std::vector<std::pair<std::string, double>> seconds;  ///< of the set-up by parts
};

/// A LinearOperator may be one, too.
class TellsHierarchy {
 public:
  virtual ~TellsHierarchy() = default;
  virtual HierarchyFacts hierarchy_facts() const = 0;
  /// Measures LevelFacts::product where the levels lie. Cost: some 20 ms a level.
  virtual void time_levels(Context&, HierarchyFacts&) const = 0;
};

/// Nothing of an operator that has no levels, or of none.
std::optional<HierarchyFacts> hierarchy_facts(LinearOperator<double> const* M);
/// The same with products measured, which no two runs tell alike.
std::optional<HierarchyFacts> timed_hierarchy_facts(Context&, LinearOperator<double> const* M);

/// The levels in a table with a heading, a column `us` where products were measured, the
/// complexities, the near-nullspace and the seconds.
std::vector<std::string> lines_of(HierarchyFacts const&);

}  // namespace tcsolve
