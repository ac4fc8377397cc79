// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/precond/register.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

using SolverRegistry = Registry<Solver>;
void register_solvers(SolverRegistry&);
/// `solver` as a preconditioner: some iterations of an inner method.
void register_inner_solver(PreconditionerRegistry&);

}  // namespace tcsolve
