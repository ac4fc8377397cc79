// SPDX-License-Identifier: Apache-2.0
/// Which solver and preconditioner a matrix asks for, by what can be seen of it.
#pragma once

#include <tcsolve/matrix/csr.hpp>

#include <string>

namespace tcsolve {

struct Method {
  std::string solver, preconditioner;  ///< names in their registries
  std::string reason;                  ///< "the matrix is symmetric with a positive diagonal"
};

///     not square                              lsmr
///     symmetric, positive diagonal            cg, jacobi
///     symmetric                               minres
///     nonsymmetric, no zero on the diagonal   gmres, jacobi
///     nonsymmetric                            gmres
///
/// A positive diagonal does not prove a matrix definite; cg says so where it is not. Symmetric is
/// what differs from its transpose by rounding, 1e-12 in the Frobenius norm.
Method choose_method(CsrSummary const&);

/// What the matrix is seen as: "100 x 80, 460 entries, not square".
std::string matrix_text(CsrSummary const&);

}  // namespace tcsolve
