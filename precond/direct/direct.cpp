// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/direct/direct.hpp>

#include <cmath>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {
namespace {

/// Symmetric in every entry, with a positive diagonal.
bool looks_definite(CsrView<double> const& a) {
  Csr<double> const t = transpose(a);
  if (t.entries() != a.entries) return false;
  for (Index i = 0; i < a.rows; ++i) {
    bool positive = false;
    if (a.offsets[i + 1] != t.offsets[i + 1]) return false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (a.columns[k] != t.columns[k]) return false;
      double const size = std::abs(a.values[k]) + std::abs(t.values[k]);
      if (!(std::abs(a.values[k] - t.values[k]) <= 1e-12 * size)) return false;
      positive = positive || (a.columns[k] == i && a.values[k] > 0);
    }
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

std::string DirectParams::check() const {
  return values == Real::bf16 ? "'values: bf16' is not offered; take fp64, fp32 or fp16" : "";
}

OperatorPtr<double> DirectFactory::build(Context& ctx, System const& system) const {
  Params const& p = checked(params_, "direct");
  if (system.matrix.space != Space::host) {
    Csr<double> const here = to_host(ctx, system.matrix);
    return build(ctx, {here.view(), system.A});
  }
  bool symmetric = p.factorisation == CompleteKind::cholesky;
  if (p.factorisation == CompleteKind::automatic)
    symmetric = system.matrix.rows == system.matrix.cols && looks_definite(system.matrix);
  return from_factors(ctx, system.matrix, recipe(p, symmetric));
}

OperatorPtr<double> DirectFactory::update(Context& ctx, System const& system,
                                          OperatorPtr<double> const& M) const {
  return update_factors(ctx, system.matrix, M) ? M : build(ctx, system);
}

}  // namespace tcsolve
