// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level.hpp>

namespace tcsolve {

void AmgTransfer::plan_galerkin(Context& ctx, CsrView<double> const& a, Index node, Index coarse) {
  part(ctx, SetupPart::galerkin_pattern, [&] {
    galerkin_.emplace(ctx, a, pattern_of_p().with<double>(nullptr), product_limits, node, coarse);
    auto const values = [&](Offset entries) {
      return Array<double>(ctx.space(), static_cast<std::size_t>(entries));
    };
    p_ = values(pattern_of_p().entries);
    r_ = values(pattern_of_p().entries);
    c_ = values(galerkin_->pattern().entries);
  });
}

double AmgTransfer::bytes() const {
  if (failed_) return 0;
  return own_bytes() + double(keep_.size()) + galerkin_->bytes() + double(p_.bytes()) +
         double(r_.bytes()) + double(c_.bytes());
}

void AmgTransfer::numbers(Context& ctx, CsrView<double> const& a, double lambda_max) {
  ctx.cancel_flag().check();
  interpolate(ctx, a, lambda_max, p_.data());
  coarsen(ctx, a);
}

void AmgTransfer::coarsen(Context& ctx, CsrView<double> const& a) {
  part(ctx, SetupPart::galerkin_values,
       [&] { galerkin_->values(ctx, a, P(), c_.data(), r_.data()); });
}

}  // namespace tcsolve
