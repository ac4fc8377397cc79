// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/from_factors.hpp>

#include <tcsolve/formats/choose/cost_model.hpp>

namespace tcsolve {
namespace {

/// The owner of a Factorisation or an ExplicitInverse.
template <class Op>
class OwnedFactors final : public Preconditioner {
 public:
  explicit OwnedFactors(std::shared_ptr<Op> M) : M_(std::move(M)) {}
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    HostMatrix once;
    admitted(M_->name(), [&] { M_->update(ctx, system.matrix, host_side(system, once)); });
  }

 private:
  std::shared_ptr<Op> M_;
};

}  // namespace

std::shared_ptr<FactorPlan> factor_plan(Context& ctx, System const& system,
                                        FactorRecipe const& recipe, FactoryId self) {
  if (system.notes)
    if (auto plan = system.notes->look<FactorPlan>(self)) return plan;
  Range const range(ctx, "factor_plan");
  std::optional<FactorPlan> there;
  if (ctx.space() != Space::host) {
    there = plan_there(ctx, system.matrix, recipe);
    if (there && !quicker_on_device(CostTable::shipped(ctx).factors, *there->there)) there.reset();
  }
  FactorPlan plan = there ? std::move(*there)
                          : on_host(ctx, system, recipe.name, [&](CsrView<double> const& here) {
                              return plan_factors(ctx, here, recipe);
                            });
  return system.notes ? system.notes->keep(self, std::move(plan))
                      : std::make_shared<FactorPlan>(std::move(plan));
}

std::unique_ptr<Preconditioner> from_factors(Context& ctx, System const& system,
                                             FactorRecipe const& recipe, FactoryId self) {
  auto const plan = factor_plan(ctx, system, recipe, self);
  if (system.notes) system.notes->take<FactorPlan>(self);
  return std::make_unique<OwnedFactors<Factorisation>>(admitted(
      recipe.name, [&] { return std::make_shared<Factorisation>(ctx, std::move(*plan), recipe); }));
}

std::unique_ptr<Preconditioner> from_entries(Context& ctx, System const& system, std::string name,
                                             Real values, InverseMaker maker) {
  HostMatrix once;
  return std::make_unique<OwnedFactors<ExplicitInverse>>(admitted(name, [&] {
    return std::make_shared<ExplicitInverse>(ctx, system.matrix, host_side(system, once), name,
                                             values, std::move(maker));
  }));
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

}  // namespace tcsolve
