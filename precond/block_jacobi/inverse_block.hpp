// SPDX-License-Identifier: Apache-2.0
/// The inverse of one diagonal block, and the type that it may be stored in.
#pragma once

#include <Eigen/Core>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>

namespace tcsolve {

/// Of rows and columns [first, first + b) of a host matrix, with partial pivoting. Throws
/// SetupError naming the rows where the block is singular.
struct InverseBlock {
  Eigen::MatrixXd inverse;
  double condition = 0;  ///< ||B||_1 ||B^-1||_1
};
InverseBlock inverse_block(CsrView<double> const& a, Index first, Index b);

/// The type of a block (Anzt, Dongarra, Flegar, Higham and Quintana-Orti 2019): the narrowest one
/// with condition * roundoff <= 0.01, which leaves two digits to an application of B^-1, and whose
/// range holds B^-1 to its roundoff. `values`: what is asked for; `widest`: what is not exceeded.
Real stored_type(InverseBlock const&, BlockValues values, Real widest);

}  // namespace tcsolve
