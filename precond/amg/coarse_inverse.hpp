// SPDX-License-Identifier: Apache-2.0
/// The coarsest level's matrix inverted, by Cholesky where it is positive definite:
///
///     S A S = L L^T          S: powers of two that bring the diagonal of A near 1
///     G = S (S A S)^-1 S
///
/// Where A is singular, as of a Neumann problem or with rows of zeros, a symmetric generalised
/// inverse takes its place, by the eigenvalues of S A S, of which those below 1e-11 times the
/// largest count as 0:
///
///     G = S (S A S)^+ S      A G b = b for every b that A reaches
///
/// Where A is not symmetric, G is made by LU with row exchanges, and of a singular one by a
/// complete orthogonal decomposition (Golub and Van Loan 2013, section 5.5.5).
#pragma once

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

/// What counts as 0 beside the largest eigenvalue, or a pivot beside its diagonal entry.
constexpr double zero_eigenvalue = 1e-11;

/// G as a matrix of full rows, exactly symmetric; rows of zeros of A are those of G. Of a symmetric
/// matrix on the host. Throws SetupError where an eigenvalue is negative by more than rounding, or
/// a value is not finite; Cancelled. Cost: n^3 flops, 25 n^3 where A is singular; memory 24 n^2
/// bytes besides.
Csr<double> coarse_inverse(Csr<double> const& a, CancelFlag cancel);

/// The same of any square matrix, G of full rows. Throws SetupError where a value is not finite;
/// Cancelled. Cost: 2 n^3 flops, 8 n^3 where A is singular.
Csr<double> general_inverse(Csr<double> const& a, CancelFlag cancel);

/// Either of them in the Context's space. On a device that of a symmetric matrix by Gauss-Jordan
/// elimination there, and where that shows a pivot that is not positive, on the host. Cost: n / 8
/// passes over n^2 values; a copy to the host and back where A is singular or not symmetric.
CsrStorage<double> coarse_inverse(Context&, CsrView<double> const& a, bool symmetric);
/// The same in the place of one that was made of a matrix of as many rows.
void renew_coarse_inverse(Context&, CsrView<double> const& a, bool symmetric,
                          CsrStorage<double>& G);

/// What Gauss-Jordan elimination makes.
struct DenseInverse {
  sparse::OwnedPattern pattern;  ///< full rows
  Array<double> values;          ///< exactly symmetric
  bool definite = false;         ///< every pivot was positive; else values mean nothing
};
DenseInverse dense_inverse(Context&, CsrView<double> const& a);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
sparse::OwnedPattern full_pattern(Host&, Arena&, Index n);
bool dense_inverse(Host&, Arena&, CsrView<double> const& a, double* G);
}  // namespace host
namespace cuda {
sparse::OwnedPattern full_pattern(Device&, Arena&, Index n);
bool dense_inverse(Device&, Arena&, CsrView<double> const& a, double* G);
}  // namespace cuda
}  // namespace tcsolve
