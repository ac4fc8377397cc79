// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/parts.hpp>

#include <utility>

#include <tcsolve/api/auto_solver.hpp>

namespace tcsolve {

SolverParts::SolverParts(SolverOptions const& options)
    : matrix_operator(make<OperatorRegistry>(options.matrix_operator)),
      preconditioner(make<PreconditionerRegistry>(options.preconditioner)) {
  renew_method(options);
}

void SolverParts::renew_method(SolverOptions const& options) {
  bool const chooses_solver = options.solver.type() == "auto";
  bool const chooses_preconditioner = options.preconditioner.type() == "auto";
  chooser = nullptr;
  method.reset();
  if (!chooses_solver && !chooses_preconditioner) {
    method = make<SolverRegistry>(options.solver);
    return;
  }
  std::shared_ptr<Solver> made = chooses_solver
                                     ? std::shared_ptr<Solver>(make<SolverRegistry>(options.solver))
                                     : std::make_shared<AutoSolver>();
  chooser = dynamic_cast<AutoSolver*>(made.get());
  if (chooser != nullptr && !chooses_solver) chooser->keep_solver(options.solver);
  if (chooser != nullptr && !chooses_preconditioner)
    chooser->keep_preconditioner(options.preconditioner);
  if (chooser != nullptr && options.symmetric != Symmetry::automatic)
    chooser->say_symmetric(options.symmetric == Symmetry::yes);
  method = std::move(made);
}

}  // namespace tcsolve
