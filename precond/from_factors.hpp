// SPDX-License-Identifier: Apache-2.0
/// Preconditioners made on the host of a matrix' values, for the rooms that name them.
#pragma once

#include <string>

#include <tcsolve/factors/apply/explicit_inverse.hpp>
#include <tcsolve/factors/factor_memory.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {

/// Rows [first, end) of a matrix; by default all.
struct SomeRows {
  Index first = 0, end = -1;
  Index end_of(Index rows) const { return end < 0 ? rows : end; }
};

/// A factory whose M is a factorisation, or is given by its entries.
class FromFactors : public PreconditionerFactory {
 public:
  bool bytes_are_all() const override { return false; }
};

/// The plan of a recipe, for `self`: the one in the notes, or a new one that is kept there, where
/// there are notes.
std::shared_ptr<FactorPlan> factor_plan(Context&, System const&, FactorRecipe const& recipe,
                                        FactoryId self);
/// The preconditioner of a recipe, from its plan. Throws SetupError where the matrix has no such
/// factors, ShapeError, MemoryError, Cancelled.
std::unique_ptr<Preconditioner> from_factors(Context&, System const&, FactorRecipe const& recipe,
                                             FactoryId self);
/// The same for an approximate inverse given by its entries; `text` goes into its details().
std::unique_ptr<Preconditioner> from_entries(Context&, System const&, std::string name, Real values,
                                             InverseMaker maker);
/// What they will hold. Throws as they do, but for memory.
MemoryNeed factors_need(Context&, System const&, FactorRecipe const& recipe, FactoryId self);
/// f(). What the matrix does not admit is a SetupError, which names `name`.
template <class F>
auto admitted(std::string const& name, F const& f) {
  try {
    return f();
  } catch (MatrixError const& e) { throw SetupError(cat(name, ": ", e.what())); }
}
/// The same for f(a), a the matrix on the host.
template <class F>
auto on_host(Context& ctx, System const& system, std::string const& name, F const& f) {
  return admitted(name, [&] { return with_host(ctx, system, f); });
}
/// A guess from the numbers of rows, of kept entries and of A's alone.
double factor_bytes(Index rows, double kept, Offset entries_of_A, Real values);

}  // namespace tcsolve
