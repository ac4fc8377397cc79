// SPDX-License-Identifier: Apache-2.0
/// A look at the matrix before the solve: what a method needs and the matrix has not.
#pragma once

#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/solver.hpp>

#include <span>
#include <string>
#include <vector>

namespace tcsolve {

/// What the system is without any method: equations `0 = b_i`, empty rows and columns, the
/// structural rank (api/system_facts.hpp); rows and columns from 1. b: with one or more columns.
std::vector<std::string> system_warnings(Csr<double> const& A, std::span<double const> b,
                                         CancelFlag cancel);

/// Warnings for a method or a preconditioner that needs a symmetric matrix and is given another
/// one, or a definite one where the diagonal is not positive, and for a method that needs M to be
/// one linear map where M solves a system of its own. Symmetry is tested in at most 2000 rows
/// spread evenly, so silence proves nothing. Cost: one pass over the rows' diagonals, no memory.
std::vector<std::string> preflight(Solver const& method, PreconditionerFactory const& M,
                                   Csr<double> const& A);

}  // namespace tcsolve
