// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level.hpp>

#include <utility>

namespace tcsolve {

void AmgTransfer::plan_galerkin(Context& ctx, CsrView<double> const& a, Index node, Index coarse) {
  part(ctx, SetupPart::galerkin_pattern, [&] {
    galerkin_.emplace(ctx, a, planned_p().with<double>(nullptr), product_limits, node, coarse);
    auto const values = [&](Offset entries) {
      return Array<double>(ctx.space(), static_cast<std::size_t>(entries));
    };
    p_ = values(planned_p().entries);
    r_ = values(planned_p().entries);
    c_ = values(galerkin_->pattern().entries);
  });
}

double AmgTransfer::bytes() const {
  if (failed_) return 0;
  double const plans = ended_ ? bytes_of(ended_->P) + bytes_of(ended_->R) + bytes_of(ended_->C)
                              : own_bytes() + galerkin_->bytes();
  return plans + double(keep_.size()) + double(coarse_vectors_.bytes()) + double(p_.bytes()) +
         double(r_.bytes()) + double(c_.bytes());
}

void AmgTransfer::end_plans() {
  if (ended_) return;
  sparse::OwnedPattern P = release_p();
  auto [R, C] = std::move(*galerkin_).release_both();
  galerkin_.reset();
  ended_.emplace(Ended{std::move(P), std::move(R), std::move(C)});
}

void AmgTransfer::leave(AmgInPlace read) {
  if (!ended_) return;
  auto const free = [](sparse::OwnedPattern& pattern, Array<double>& values) {
    pattern.narrow_offsets = {}, pattern.wide_offsets = {}, pattern.columns = {};
    values = {};
  };
  if (!read.P) free(ended_->P, p_);
  if (!read.R) free(ended_->R, r_);
  if (!read.coarse) free(ended_->C, c_);
  keep_ = {}, coarse_vectors_ = {};
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
