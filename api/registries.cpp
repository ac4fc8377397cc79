// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/registries.hpp>

namespace tcsolve {

SolverRegistries::SolverRegistries() {
  register_operators(operators);
  register_preconditioners(preconditioners);
  register_inner_solver(preconditioners);
  register_solvers(solvers);
  catalog.add(operators).add(preconditioners).add(solvers);
}

SolverRegistries const& solver_registries() {
  static SolverRegistries const registries;
  return registries;
}

}  // namespace tcsolve
