// SPDX-License-Identifier: Apache-2.0
/// Vectors that a cycle hardly reduces, learned from A, for the levels to represent (Brezina,
/// Falgout, MacLachlan, Manteuffel, McCormick and Ruge 2005, Adaptive smoothed aggregation
/// multigrid, section 3):
///
///     hierarchy of the vectors B that are given,  M its cycle
///     X random (n x k)
///     ten times:  X = X - M A X,  X orthonormal      a cycle on A x = 0 of each column
///     B = [B X]
///
/// All columns at once, as a subspace iteration; in the paper each is learned with a hierarchy of
/// those before it.
#pragma once

#include <tcsolve/precond/amg/near_nullspace.hpp>
#include <tcsolve/precond/amg/params.hpp>

namespace tcsolve {

/// `given` and params.near_nullspace.learn columns more, which are zero where the iteration has
/// found no more directions. Throws as AmgHierarchy. Cost: a set-up with `given`, ten cycles and
/// products with A of so many columns.
NearNullspace learned(Context&, System const&, AmgParams const& params, NearNullspace given);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
/// The columns of X (rows x k) become those of B (rows x count) from `first` on, both by rows.
void place_columns(Host&, Arena&, Index rows, double const* X, Index k, double* B, Index first,
                   Index count);
}  // namespace host
namespace cuda {
void place_columns(Device&, Arena&, Index rows, double const* X, Index k, double* B, Index first,
                   Index count);
}  // namespace cuda
}  // namespace tcsolve
