// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level.hpp>

namespace tcsolve {

void AmgTransfer::plan_galerkin(Context& ctx, CsrView<double> const& a) {
  part(ctx, SetupPart::galerkin_pattern, [&] {
    galerkin_.emplace(ctx, a, pattern_of_p().with<double>(nullptr));
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
  double const rows = pattern_of_p().rows, coarse = coarse_rows(),
               p = double(interpolation_entries());
  double sum = own_bytes() + double(keep_.size());
  sum += 4 * coarse + 8 * p;                                   // P^T
  sum += 8 * rows + 4 * double(galerkin_->product_entries());  // A P
  sum += 8 * coarse + 4 * double(entries());                   // P^T A P
  return sum + 16 * p + 8 * double(entries());
}

void AmgTransfer::numbers(Context& ctx, CsrView<double> const& a, double lambda_max) {
  ctx.cancel_flag().check();
  interpolate(ctx, a, lambda_max, p_.data());
  part(ctx, SetupPart::galerkin_values, [&] {
    galerkin_->values(ctx, a, P(), c_.data());
    galerkin_->restriction().values(ctx, static_cast<double const*>(p_.data()), r_.data());
  });
}

}  // namespace tcsolve
