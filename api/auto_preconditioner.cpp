// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/auto_preconditioner.hpp>

#include <tcsolve/api/choices.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

OperatorPtr<double> AutoPreconditionerFactory::build(Context& ctx, System const& system) const {
  CsrView<double> const& a = system.matrix;
  MatrixFacts const facts =
      a.space == Space::host ? matrix_facts(a) : matrix_facts(to_host(ctx, a).view());
  SolverRegistries const& registries = solver_registries();
  std::string problems_met;
  for (Choice const& choice : choices(facts, ctx.space() != Space::host)) {
    Diagnostics problems;
    auto const factory = registries.preconditioners.make(parse_yaml(choice.preconditioner, "auto"),
                                                         problems, registries.catalog);
    problems.throw_if_any();
    try {
      return factory->build(ctx, system);
    } catch (SetupError const& e) { problems_met += cat("; ", e.what()); }
  }
  throw SetupError("auto: no preconditioner could be made" + problems_met);
}

}  // namespace tcsolve
