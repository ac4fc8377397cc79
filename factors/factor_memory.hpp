// SPDX-License-Identifier: Apache-2.0
/// What a Factorisation will hold once it is made, told before it is.
///
///     host     A as arranged and where its entries come from       20 an entry of A
///              the factors as made                                 12 an entry
///              of each stored entry, where it comes from            8
///     space    the triangles                                       values and a column an entry
///     both     offsets, permutations, scales, unknowns             some 180 a row
///
///     by level and complete Cholesky factors   counted
///     complete LU                               as if all pivots lay on the diagonal
///     by size                                   counted up to 20000 rows, else from a sample
#pragma once

#include <tcsolve/core/memory_need.hpp>
#include <tcsolve/factors/factor_plan.hpp>
#include <tcsolve/factors/factorisation.hpp>

namespace tcsolve {

/// Of Factorisation(ctx, plan, recipe). Throws as that does, but for memory. Cost: of the counts
/// (factors/make/fill_count.hpp), which stay in the plan.
MemoryNeed factorisation_need(Context&, FactorPlan& plan, FactorRecipe const& recipe);
/// With factors of so many entries of B, the arranged A.
MemoryNeed factorisation_need(Context const&, FactorRecipe const&, Index rows, Offset entries_of_B,
                              FillCount const&);
/// Seconds of complete factors by a core of the host, at the least: a triangle of z entries takes
/// z^2 / rows multiplications and more, by Cauchy and Schwarz. Throws and costs as
/// factorisation_need().
double least_complete_seconds(Context&, FactorPlan& plan, FactorRecipe const& recipe);
/// Of a product with a stored matrix (factors/apply/stored_product.hpp).
MemoryNeed stored_need(Context const&, Index rows, double entries, Real values);
/// No fewer bytes than a factorisation of any matrix with so many rows and entries has.
double most_factor_bytes(FactorRecipe const&, Index rows, Offset entries_of_A);

}  // namespace tcsolve
