// SPDX-License-Identifier: Apache-2.0
/// What precedes the numbers of a Factorisation: found once, for those who ask what it will hold or
/// how long it will take as well as for itself.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/factors/arrange/arranged_values.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/fill_count.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/factors/make/level_zero.hpp>

namespace tcsolve {

struct FactorRates;
struct FactorRecipe;

/// Of level 0 in A's own order: made where A lies, so that the host has none of it.
struct PlanThere {
  LevelZero pattern;
  std::shared_ptr<ArrangedValues> B;
  TwoSided sides;
};

struct FactorPlan {
  Index rows = 0;
  Offset entries = 0;  ///< of A
  Arrangement arrangement;
  std::optional<Permutation> order;  ///< of complete factors of B
  std::optional<FillCount> fill;
  /// By size, where they were made in order to count them.
  std::shared_ptr<TriangularFactors> factors;
  std::optional<PlanThere> there;  ///< in place of an arrangement
};

/// Of a host matrix: the arrangement. Throws as Arrangement does, and Cancelled.
FactorPlan plan_factors(Context&, CsrView<double> const& a, FactorRecipe const&);
/// Of a matrix in the Context's space, which stays there: a recipe of level 0 without blocks that
/// neither orders nor matches, nor has its solves on the host. Nothing for others, and where the
/// levels are so many that the host's loops are quicker. Throws MemoryError.
std::optional<FactorPlan> plan_there(Context&, CsrView<double> const& a, FactorRecipe const&);
/// Whether a device makes the numbers of the plan's patterns, which are there, sooner than a host.
bool quicker_on_device(FactorRates const&, PlanThere const&);
/// The order of complete factors, found where there is none yet. Throws Cancelled.
Permutation const& complete_order(FactorPlan&, FactorRecipe const&, CancelFlag cancel = {});
/// How many entries the factors will have, counted where they are not yet. Throws as
/// Factorisation, but for memory. Cost: see factors/make/fill_count.hpp.
FillCount const& count_fill(Context&, FactorPlan&, FactorRecipe const&);

}  // namespace tcsolve
