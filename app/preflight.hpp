// SPDX-License-Identifier: Apache-2.0
/// A look at the matrix before the solve: what a method needs and the matrix has not.
#pragma once

#include <tcsolve/formats/csr.hpp>

#include <string>
#include <vector>

namespace tcsolve {

/// Warnings for minres and the forms of cg on a matrix that is not symmetric, and for the latter on
/// one whose diagonal is not positive; none for other solvers. Symmetry is tested in at most 2000
/// rows spread evenly, so silence proves nothing. Cost: one pass over the rows' diagonals, no
/// memory.
std::vector<std::string> preflight(std::string const& solver, Csr<double> const& A);

}  // namespace tcsolve
