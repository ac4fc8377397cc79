// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_preconditioner.hpp>

#include <tcsolve/api/recipes.hpp>
#include <tcsolve/precond/ranked_inverse.hpp>

namespace tcsolve {
namespace {

/// Recipes of a matrix, of several ranks or of one.
struct Found {
  MatrixFacts facts;
  std::vector<Recipe> list;
};
Found found_for(Context& ctx, System const& system) {
  bool const on_device = ctx.space() != Space::host;
  if (DistributedMatrix const* const all = matrix_of_ranks(ctx, system)) {
    MatrixFacts const facts = matrix_facts(ctx, *all);
    return {facts, for_ranks(recipes(facts, on_device), facts, ctx.communicator().ranks(),
                             sums_by_messages(ctx))};
  }
  MatrixFacts const facts = matrix_facts(ctx, system.matrix);
  return {facts, recipes(facts, on_device)};
}

/// f(the factory of a recipe, its name), in turn, until that is true.
template <class F>
void until(std::vector<Recipe> const& list, F const& f) {
  for (Recipe const& recipe : list) {
    if (recipe.least_squares) continue;  // of lsmr, not of A^-1
    Block const block = read_text(solver_registries().preconditioners, recipe.preconditioner);
    if (f(*make<PreconditionerRegistry>(block), block.type())) return;
  }
}

/// That another recipe may do better.
bool goes_on(Error const& e) {
  return dynamic_cast<SetupError const*>(&e) != nullptr ||
         dynamic_cast<MemoryError const*>(&e) != nullptr ||
         dynamic_cast<TakesTooLong const*>(&e) != nullptr;
}

/// The first preconditioner that can be made.
OperatorPtr<double> first_of(Context& ctx, System system) {
  if (!system.host) system.host = std::make_shared<HostMatrix>();
  Found const found = found_for(ctx, system);
  system.symmetric = found.facts.symmetric;
  OperatorPtr<double> M;
  std::string problems_met;
  until(found.list, [&](PreconditionerFactory const& factory, std::string const& name) {
    try {
      M = build_within_memory(ctx, factory, system, name)->view();
    } catch (Error const& e) {
      if (!goes_on(e) || !thrown_by_all(ctx)) throw;
      problems_met += cat("; ", e.what());
    }
    return M != nullptr;
  });
  together(ctx, [&] {  // where nothing could, ranks are well
    if (!M) throw SetupError("auto: no preconditioner could be made" + problems_met);
  });
  return M;
}

}  // namespace

std::unique_ptr<Preconditioner> AutoPreconditionerFactory::build(Context& ctx,
                                                                 System const& system) const {
  return std::make_unique<Remade>(ctx, system, first_of);  // new values are chosen for anew
}

MemoryNeed AutoPreconditionerFactory::memory(Context& ctx, System const& system) const {
  if (matrix_of_ranks(ctx, system) != nullptr) return {};
  MemoryNeed need;
  bool found = false;
  until(found_for(ctx, system).list, [&](PreconditionerFactory const& factory, std::string const&) {
    try {
      need = factory.memory(ctx, system);
      found = fits(ctx, need);
    } catch (SetupError const&) {}  // build() meets it, too
    return found;
  });
  return found ? need : MemoryNeed{};
}

}  // namespace tcsolve
