// SPDX-License-Identifier: Apache-2.0
/// What precedes the numbers of a Factorisation: found once, for those who ask what it will hold or
/// how long it will take as well as for itself.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/fill_count.hpp>
#include <tcsolve/factors/make/incomplete.hpp>

namespace tcsolve {

struct FactorRecipe;

struct FactorPlan {
  Index rows = 0;
  Offset entries = 0;  ///< of A
  Arrangement arrangement;
  std::optional<Permutation> order;  ///< of complete factors of B
  std::optional<FillCount> fill;
  /// By size, where they were made in order to count them.
  std::shared_ptr<TriangularFactors> factors;
};

/// Of a host matrix: the arrangement. Throws as Arrangement does, and Cancelled.
FactorPlan plan_factors(Context&, CsrView<double> const& a, FactorRecipe const&);
/// The order of complete factors, found where there is none yet. Throws Cancelled.
Permutation const& complete_order(FactorPlan&, FactorRecipe const&, CancelFlag cancel = {});
/// How many entries the factors will have, counted where they are not yet. Throws as
/// Factorisation, but for memory. Cost: see factors/make/fill_count.hpp.
FillCount const& count_fill(Context&, FactorPlan&, FactorRecipe const&);

}  // namespace tcsolve
