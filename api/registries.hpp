// SPDX-License-Identifier: Apache-2.0
/// Everything that the options of a solver may name.
#pragma once

#include <tcsolve/formats/register.hpp>
#include <tcsolve/precond/register.hpp>
#include <tcsolve/solvers/register.hpp>

namespace tcsolve {

/// The package's own formats, preconditioners and methods. A caller who adds more gives the
/// registries to read_options(); they must outlive the options that were read with them.
struct SolverRegistries {
  OperatorRegistry operators{"operator", "format"};
  PreconditionerRegistry preconditioners{"preconditioner"};
  SolverRegistry solvers{"solver"};
  Catalog catalog;

  SolverRegistries();
};

/// The package's own registries, made at the first call; they live as long as the process.
SolverRegistries const& solver_registries();

}  // namespace tcsolve
