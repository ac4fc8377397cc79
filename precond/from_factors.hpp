// SPDX-License-Identifier: Apache-2.0
/// Preconditioners made on the host of a matrix' values, for the rooms that name them.
#pragma once

#include <string>

#include <tcsolve/factors/explicit_inverse.hpp>
#include <tcsolve/factors/factor_memory.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {

/// A factory whose M follows new values by update_factors().
class FromFactors : public PreconditionerFactory {
 public:
  OperatorPtr<double> update(Context&, System const&, OperatorPtr<double> const& M) const override;
  bool bytes_are_all() const override { return false; }
};

/// The plan of a recipe, for `self`: the one in the notes, or a new one that is kept there, where
/// there are notes. The matrix may lie on the device, and is then copied to the host.
std::shared_ptr<FactorPlan> factor_plan(Context&, System const&, FactorRecipe const& recipe,
                                        FactoryId self);
/// The preconditioner of a recipe, from its plan. Throws SetupError where the matrix has no such
/// factors, ShapeError, MemoryError, Cancelled.
OperatorPtr<double> from_factors(Context&, System const&, FactorRecipe const& recipe,
                                 FactoryId self);
/// The same for an approximate inverse given by its entries; `text` goes into its details().
OperatorPtr<double> from_entries(Context&, CsrView<double> const& a, std::string name, Real values,
                                 InverseMaker maker, std::string text = "");
/// What they will hold. Throws as they do, but for memory.
MemoryNeed factors_need(Context&, System const&, FactorRecipe const& recipe, FactoryId self);
/// f(). What the matrix does not admit is a SetupError, which names `name`.
template <class F>
auto admitted(std::string const& name, F const& f) {
  try {
    return f();
  } catch (MatrixError const& e) { throw SetupError(cat(name, ": ", e.what())); }
}
/// The same for f(a) of a matrix on the host.
template <class F>
auto on_host(Context& ctx, CsrView<double> const& a, std::string const& name, F const& f) {
  return admitted(name, [&] {
    if (a.space == Space::host) return f(a);
    Csr<double> const here = to_host(ctx, a);
    return f(here.view());
  });
}
/// A guess from the numbers of rows, of kept entries and of A's alone.
double factor_bytes(Index rows, double kept, Offset entries_of_A, Real values);
/// Gives the values of `a` to M. False where M was made by neither.
bool update_factors(Context&, CsrView<double> const& a, OperatorPtr<double> const& M);

}  // namespace tcsolve
