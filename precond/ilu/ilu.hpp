// SPDX-License-Identifier: Apache-2.0
/// M = (L U)^-1, an incomplete LU factorisation of A (Meijerink and van der Vorst 1977; Saad 2003,
/// sections 10.3 and 10.4), after a matching, scaling and an order.
///
/// Here are the parameters. The algorithm is in factors/, shared with ic and direct; in the order
/// of the computation:
///
///     B = P R A C Q^T               factors/arrange/arrangement.hpp: matching, scaling, order
///     B ~ L D U                     factors/make/incomplete.hpp: the pattern by level, ILU(k), or by
///                                   size, ILUT, and the elimination on the host
///       on a device                 factors/make/joint_factors.hpp, kernel in factors/make/eliminate.cu
///       with blocks as entries      factors/make/block_factors.hpp
///     y = (L D U)^-1 b, exactly     factors/apply/factored_inverse.hpp, level by level as
///                                   factors/triangle.hpp orders them, kernel in factors/apply/solve.cu
///       otherwise                   factors/apply/approximate_inverse.hpp (isai), swept_inverse.hpp
///                                   (sweeps), parts_inverse.hpp (parts), on_host.hpp (host)
///     all together, new values      factors/factorisation.hpp
#pragma once

#include <tcsolve/precond/factor_params.hpp>
#include <tcsolve/precond/incomplete_factory.hpp>

namespace tcsolve {

struct IluParams {
  FillParams fill;
  double pivot_floor = 1e-6;
  ArrangementParams arrangement;
  FactorParams factors;

  std::string check() const;
  static constexpr auto schema() {
    using P = IluParams;
    return std::tuple{include(&P::fill),
                      field(&P::pivot_floor, "pivot_floor", between(0.0, 1.0),
                            "a smaller pivot, relative to its row, takes this size"),
                      include(&P::arrangement), include(&P::factors)};
  }
};

class IluFactory final : public IncompleteFactory {
 public:
  using Params = IluParams;
  explicit IluFactory(Params const& params = {}) : params_(params) {}

 private:
  FactorRecipe recipe() const override;
  Params params_;
};

}  // namespace tcsolve
