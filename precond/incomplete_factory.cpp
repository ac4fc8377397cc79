// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/incomplete_factory.hpp>

#include <algorithm>

namespace tcsolve {

std::unique_ptr<Preconditioner> IncompleteFactory::build(Context& ctx, System const& system) const {
  return from_factors(ctx, system, recipe(), id());
}

MemoryNeed IncompleteFactory::memory(Context& ctx, System const& system) const {
  return factors_need(ctx, system, recipe(), id());
}

double IncompleteFactory::bytes(Index rows, Offset entries) const {
  FactorRecipe const r = recipe();
  double const fill = r.fill == FillIn::by_size ? std::min(r.fill_factor, 2.0) : 1.0 + r.level;
  return factor_bytes(rows, fill * static_cast<double>(entries), entries, r.values);
}

double IncompleteFactory::most_bytes(Index rows, Offset entries) const {
  return most_factor_bytes(recipe(), rows, entries);
}

}  // namespace tcsolve
