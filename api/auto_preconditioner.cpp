// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_preconditioner.hpp>

#include <tcsolve/api/choices.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

namespace {

std::vector<Choice> choices_of(Context& ctx, CsrView<double> const& a) {
  MatrixFacts const facts =
      a.space == Space::host ? matrix_facts(a) : matrix_facts(to_host(ctx, a).view());
  std::vector<Choice> list = choices(facts, ctx.space() != Space::host);
  std::erase_if(list, [](Choice const& c) { return c.least_squares; });  // of lsmr, not of A^-1
  return list;
}

Block block_of(Choice const& choice) {
  SolverRegistries const& registries = solver_registries();
  Diagnostics problems;
  Block block = registries.preconditioners.read(parse_yaml(choice.preconditioner, "auto"), problems,
                                                registries.catalog);
  problems.throw_if_any();
  return block;
}

}  // namespace

OperatorPtr<double> AutoPreconditionerFactory::build(Context& ctx, System const& system) const {
  std::string problems_met;
  for (Choice const& choice : choices_of(ctx, system.matrix)) {
    Block const block = block_of(choice);
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

MemoryNeed AutoPreconditionerFactory::memory(Context& ctx, System const& system) const {
  for (Choice const& choice : choices_of(ctx, system.matrix)) {
    auto const factory = make<PreconditionerRegistry>(block_of(choice));
    try {
      MemoryNeed const need = factory->memory(ctx, system);
      if (fits(ctx, need)) return need;
    } catch (SetupError const&) { continue; }  // build() meets it, too
  }
  return {};
}

}  // namespace tcsolve
