// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_preconditioner.hpp>

#include <tcsolve/api/recipes.hpp>

namespace tcsolve {
namespace {

std::vector<Recipe> recipes_of(Context& ctx, MatrixFacts const& facts) {
  std::vector<Recipe> list = recipes(facts, ctx.space() != Space::host);
  std::erase_if(list, [](Recipe const& r) { return r.least_squares; });  // of lsmr, not of A^-1
  return list;
}

MatrixFacts facts_of(Context& ctx, System const& system) {
  return with_host(ctx, system, [](CsrView<double> const& a) { return matrix_facts(a); });
}

Block block_of(Recipe const& recipe) {
  return read_text(solver_registries().preconditioners, recipe.preconditioner);
}

/// The first preconditioner that can be made.
std::unique_ptr<Preconditioner> first_of(Context& ctx, System system) {
  if (!system.host) system.host = std::make_shared<HostMatrix>();
  MatrixFacts const facts = facts_of(ctx, system);
  system.symmetric = facts.symmetric;
  std::string problems_met;
  for (Recipe const& recipe : recipes_of(ctx, facts)) {
    Block const block = block_of(recipe);
    try {
      return build_within_memory(ctx, *make<PreconditionerRegistry>(block), system, block.type());
    } catch (SetupError const& e) {
      problems_met += cat("; ", e.what());
    } catch (MemoryError const& e) {
      problems_met += cat("; ", e.what());
    } catch (TakesTooLong const& e) { problems_met += cat("; ", e.what()); }
  }
  throw SetupError("auto: no preconditioner could be made" + problems_met);
}

/// New values are chosen for anew.
class OwnedChoice final : public Preconditioner {
 public:
  OwnedChoice(Context& ctx, System const& system) : chosen_(first_of(ctx, system)) {}
  OperatorPtr<double> view() const override { return chosen_->view(); }
  void update(Context& ctx, System const& system) override { chosen_ = first_of(ctx, system); }

 private:
  std::unique_ptr<Preconditioner> chosen_;
};

}  // namespace

std::unique_ptr<Preconditioner> AutoPreconditionerFactory::build(Context& ctx,
                                                                 System const& system) const {
  return std::make_unique<OwnedChoice>(ctx, system);
}

MemoryNeed AutoPreconditionerFactory::memory(Context& ctx, System const& system) const {
  for (Recipe const& recipe : recipes_of(ctx, facts_of(ctx, system))) {
    auto const factory = make<PreconditionerRegistry>(block_of(recipe));
    try {
      MemoryNeed const need = factory->memory(ctx, system);
      if (fits(ctx, need)) return need;
    } catch (SetupError const&) { continue; }  // build() meets it, too
  }
  return {};
}

}  // namespace tcsolve
