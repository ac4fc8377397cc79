// SPDX-License-Identifier: Apache-2.0
/// Preconditioners made of factors, for the rooms that name them.
#pragma once

#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

/// The preconditioner of a recipe; `a` may lie on the device, and is then copied to the host.
/// Throws SetupError where the matrix has no such factors, ShapeError, MemoryError.
OperatorPtr<double> from_factors(Context&, CsrView<double> const& a, FactorRecipe recipe);
/// Gives the values of `a` to M. False where M was not made by from_factors().
bool update_factors(Context&, CsrView<double> const& a, OperatorPtr<double> const& M);

}  // namespace tcsolve
