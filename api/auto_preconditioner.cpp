// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_preconditioner.hpp>

#include <tcsolve/api/recipes.hpp>

namespace tcsolve {
namespace {

/// f(the factory of a recipe, its name), in turn, until that is true.
template <class F>
void until(Context& ctx, MatrixFacts const& facts, F const& f) {
  for (Recipe const& recipe : recipes(facts, ctx.space() != Space::host)) {
    if (recipe.least_squares) continue;  // of lsmr, not of A^-1
    Block const block = read_text(solver_registries().preconditioners, recipe.preconditioner);
    if (f(*make<PreconditionerRegistry>(block), block.type())) return;
  }
}

/// The first preconditioner that can be made.
OperatorPtr<double> first_of(Context& ctx, System system) {
  if (!system.host) system.host = std::make_shared<HostMatrix>();
  MatrixFacts const facts = matrix_facts(ctx, system.matrix);
  system.symmetric = facts.symmetric;
  OperatorPtr<double> M;
  std::string problems_met;
  until(ctx, facts, [&](PreconditionerFactory const& factory, std::string const& name) {
    try {
      M = build_within_memory(ctx, factory, system, name)->view();
    } catch (SetupError const& e) {
      problems_met += cat("; ", e.what());
    } catch (MemoryError const& e) {
      problems_met += cat("; ", e.what());
    } catch (TakesTooLong const& e) { problems_met += cat("; ", e.what()); }
    return M != nullptr;
  });
  if (!M) throw SetupError("auto: no preconditioner could be made" + problems_met);
  return M;
}

}  // namespace

std::unique_ptr<Preconditioner> AutoPreconditionerFactory::build(Context& ctx,
                                                                 System const& system) const {
  return std::make_unique<Remade>(ctx, system, first_of);  // new values are chosen for anew
}

MemoryNeed AutoPreconditionerFactory::memory(Context& ctx, System const& system) const {
  MemoryNeed need;
  bool found = false;
  until(ctx, matrix_facts(ctx, system.matrix),
        [&](PreconditionerFactory const& factory, std::string const&) {
          try {
            need = factory.memory(ctx, system);
            found = fits(ctx, need);
          } catch (SetupError const&) {}  // build() meets it, too
          return found;
        });
  return found ? need : MemoryNeed{};
}

}  // namespace tcsolve
