// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {
OperatorPtr<double> FromFactors::update(Context& ctx, System const& system,
                                        OperatorPtr<double> const& M) const {
  return update_factors(ctx, system.matrix, M) ? M : build(ctx, system);
}

std::shared_ptr<FactorPlan> factor_plan(Context& ctx, System const& system,
                                        FactorRecipe const& recipe, FactoryId self) {
  if (system.notes)
    if (auto plan = system.notes->look<FactorPlan>(self)) return plan;
  Range const range(ctx, "factor_plan");
  FactorPlan plan = on_host(ctx, system.matrix, recipe.name, [&](CsrView<double> const& here) {
    return plan_factors(ctx, here, recipe);
  });
  return system.notes ? system.notes->keep(self, std::move(plan))
                      : std::make_shared<FactorPlan>(std::move(plan));
}

OperatorPtr<double> from_factors(Context& ctx, System const& system, FactorRecipe const& recipe,
                                 FactoryId self) {
  auto const plan = factor_plan(ctx, system, recipe, self);
  if (system.notes) system.notes->take<FactorPlan>(self);
  return admitted(recipe.name,
                  [&] { return std::make_shared<Factorisation>(ctx, std::move(*plan), recipe); });
}

OperatorPtr<double> from_entries(Context& ctx, CsrView<double> const& a, std::string name,
                                 Real values, InverseMaker maker, std::string text) {
  return admitted(name, [&] {
    auto M = std::make_shared<ExplicitInverse>(ctx, a, name, values, std::move(maker));
    M->say(std::move(text));
    return M;
  });
}

MemoryNeed factors_need(Context& ctx, System const& system, FactorRecipe const& recipe,
                        FactoryId self) {
  auto const plan = factor_plan(ctx, system, recipe, self);
  return admitted(recipe.name, [&] { return factorisation_need(ctx, *plan, recipe); });
}

double factor_bytes(Index rows, double kept, Offset entries_of_A, Real values) {
  return kept * (4.0 + size_of(values) + 8 + 12) + 20.0 * static_cast<double>(entries_of_A) +
         130.0 * rows;
}

bool update_factors(Context& ctx, CsrView<double> const& a, OperatorPtr<double> const& M) {
  if (auto const own = std::dynamic_pointer_cast<ExplicitInverse const>(M)) {
    admitted(M->name(), [&] { std::const_pointer_cast<ExplicitInverse>(own)->update(ctx, a); });
    return true;
  }
  auto const own = std::dynamic_pointer_cast<Factorisation const>(M);
  if (own)
    admitted(M->name(), [&] { std::const_pointer_cast<Factorisation>(own)->update(ctx, a); });
  return own != nullptr;
}

}  // namespace tcsolve
