// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/direct/direct.hpp>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/matrix/symmetry.hpp>

namespace tcsolve {
namespace {

/// What has a factorisation L D L^T with positive D, as far as can be seen.
bool looks_definite(CsrView<double> const& a) {
  if (!is_symmetric(a)) return false;
  for (Index i = 0; i < a.rows; ++i) {
    bool positive = false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      positive = positive || (a.columns[k] == i && a.values[k] > 0);
    if (!positive) return false;
  }
  return true;
}

FactorRecipe recipe(DirectParams const& params, bool symmetric) {
  return {.name = "direct",
          .symmetric = symmetric,
          .fill = FillIn::complete,
          .arrangement = {UseMatching::off, FactorScaling::largest, FactorOrder::none},
          .values = params.values,
          .solves = TriangularSolves::automatic};
}

}  // namespace

std::string DirectParams::check() const { return stored_type_problem(values); }

/// f(recipe) of a matrix on the host.
template <class F>
auto DirectFactory::with_recipe(Context& ctx, System const& system, F const& f) const {
  Params const& p = checked(params_, "direct");
  return on_host(ctx, system.matrix, "direct", [&](CsrView<double> const& a) {
    bool symmetric = p.factorisation == CompleteKind::cholesky;
    if (p.factorisation == CompleteKind::automatic) symmetric = looks_definite(a);
    return f(a, recipe(p, symmetric));
  });
}

OperatorPtr<double> DirectFactory::build(Context& ctx, System const& system) const {
  return with_recipe(ctx, system, [&](CsrView<double> const& a, FactorRecipe const& recipe) {
    return from_factors(ctx, a, recipe);
  });
}

MemoryNeed DirectFactory::memory(Context& ctx, System const& system) const {
  return with_recipe(ctx, system, [&](CsrView<double> const& a, FactorRecipe const& recipe) {
    return factors_need(ctx, a, recipe);
  });
}

}  // namespace tcsolve
