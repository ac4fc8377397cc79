// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {
OperatorPtr<double> FromFactors::update(Context& ctx, System const& system,
                                        OperatorPtr<double> const& M) const {
  return update_factors(ctx, system.matrix, M) ? M : build(ctx, system);
}

OperatorPtr<double> from_factors(Context& ctx, CsrView<double> const& a, FactorRecipe recipe) {
  return on_host(ctx, a, recipe.name, [&](CsrView<double> const& here) {
    return std::make_shared<Factorisation>(ctx, here, recipe);
  });
}

OperatorPtr<double> from_entries(Context& ctx, CsrView<double> const& a, std::string name,
                                 Real values, InverseMaker maker, std::string text) {
  return admitted(name, [&] {
    auto M = std::make_shared<ExplicitInverse>(ctx, a, name, values, std::move(maker));
    M->say(std::move(text));
    return M;
  });
}

MemoryNeed factors_need(Context& ctx, CsrView<double> const& a, FactorRecipe const& recipe) {
  return on_host(ctx, a, recipe.name, [&](CsrView<double> const& here) {
    return factorisation_need(ctx, here, recipe);
  });
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
