// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/registries.hpp>

#include <tcsolve/api/auto_keys.hpp>
#include <tcsolve/api/auto_preconditioner.hpp>

namespace tcsolve {

namespace {

void register_auto(SolverRegistry& solvers, PreconditionerRegistry& preconditioners) {
  solvers.add<AutoKeys>("auto", "methods in turn, by what the matrix is seen to be");
  preconditioners.add<AutoPreconditionerFactory>(
      "auto", "preconditioners in turn, by what the matrix is seen to be");
}

}  // namespace

SolverRegistries::SolverRegistries() {
  register_operators(operators);
  register_preconditioners(preconditioners);
  register_inner_solver(preconditioners);
  register_solvers(solvers);
  register_auto(solvers, preconditioners);
  catalog.add(operators).add(preconditioners).add(solvers);
}

SolverRegistries const& solver_registries() {
  static SolverRegistries const registries;
  return registries;
}

}  // namespace tcsolve
