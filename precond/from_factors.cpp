// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/from_factors.hpp>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {
namespace {

/// f(a) of a matrix on the host. What the matrix does not admit is a SetupError.
template <class F>
auto on_host(Context& ctx, CsrView<double> const& a, std::string const& name, F const& f) {
  try {
    if (a.space == Space::host) return f(a);
    Csr<double> const here = to_host(ctx, a);
    return f(here.view());
  } catch (MatrixError const& e) { throw SetupError(cat(name, ": ", e.what())); }
}

}  // namespace

OperatorPtr<double> from_factors(Context& ctx, CsrView<double> const& a, FactorRecipe recipe) {
  return on_host(ctx, a, recipe.name, [&](CsrView<double> const& here) {
    return std::make_shared<Factorisation>(ctx, here, recipe);
  });
}

bool update_factors(Context& ctx, CsrView<double> const& a, OperatorPtr<double> const& M) {
  auto const own = std::dynamic_pointer_cast<Factorisation const>(M);
  if (!own) return false;
  on_host(ctx, a, M->name(), [&](CsrView<double> const& here) {
    std::const_pointer_cast<Factorisation>(own)->update(ctx, here);
    return true;
  });
  return true;
}

}  // namespace tcsolve
