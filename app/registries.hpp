// SPDX-License-Identifier: Apache-2.0
/// Everything that a config may name, in one place.
#pragma once

#include <tcsolve/app/generator.hpp>
#include <tcsolve/operators/register.hpp>
#include <tcsolve/precond/register.hpp>
#include <tcsolve/solvers/register.hpp>

namespace tcsolve {

struct Registries {
  GeneratorRegistry generators{"generator"};
  OperatorRegistry operators{"operator", "format"};
  PreconditionerRegistry preconditioners{"preconditioner"};
  SolverRegistry solvers{"solver"};
  Catalog catalog;

  Registries() {
    register_generators(generators);
    register_operators(operators);
    register_preconditioners(preconditioners);
    register_inner_solver(preconditioners);
    register_solvers(solvers);
    catalog.add(generators).add(operators).add(preconditioners).add(solvers);
  }
};

}  // namespace tcsolve
