// SPDX-License-Identifier: Apache-2.0
/// M = (L D L^T)^-1, an incomplete Cholesky factorisation of a symmetric positive definite A
/// (Meijerink and van der Vorst 1977; Lin and More 1999), scaled by its diagonal. Its algorithm is
/// that of precond/ilu/ilu.hpp on one triangle, in the same files of factors/: arrangement.hpp,
/// incomplete.hpp (cholesky_on_pattern, threshold_cholesky), factored_inverse.hpp.
#pragma once

#include <tcsolve/precond/factor_params.hpp>
#include <tcsolve/precond/incomplete_factory.hpp>

namespace tcsolve {

struct IcParams {
  FillParams fill;
  FactorOrder order = FactorOrder::automatic;
  FactorParams factors;

  std::string check() const { return fill.check(); }
  static constexpr auto schema() {
    using P = IcParams;
    return std::tuple{
        include(&P::fill),
        field(&P::order, "order",
              "of the factors: rcm, amd (little fill), metis (nested dissection: little fill, few "
              "steps), colours (fewest steps); auto takes amd where fill is kept, else none"),
        include(&P::factors)};
  }
};

class IcFactory final : public IncompleteFactory {
 public:
  using Params = IcParams;
  explicit IcFactory(Params const& params = {}) : params_(params) {}
  bool needs_definite() const override { return true; }

 private:
  FactorRecipe recipe() const override;
  Params params_;
};

}  // namespace tcsolve
