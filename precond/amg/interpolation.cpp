// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/interpolation.hpp>

#include <utility>

#include <tcsolve/precond/amg/level.hpp>

namespace tcsolve {

CutProduct::CutProduct(Context& ctx, CsrView<double> const& left, CsrView<double> const& right,
                       int most)
    : product_(ctx, left, right, product_limits) {
  auto scope = ctx.arena().scope();
  auto const entries = static_cast<std::size_t>(product_.pattern().entries);
  auto* const values = scope.take<double>(entries);
  product_.values(ctx, left, right, values);
  auto* const largest = scope.take<std::uint8_t>(entries);
  CsrView<double> const all = product_.pattern().with(static_cast<double const*>(values));
  ctx.visit([&](auto& on) { mark_largest(on, ctx.arena(), all, most, largest); });
  largest_.emplace(ctx, all, largest);
}

void CutProduct::values(Context& ctx, CsrView<double> const& left, CsrView<double> const& right,
                        double* to) const {
  auto scope = ctx.arena().scope();
  auto* const values = scope.take<double>(static_cast<std::size_t>(product_.pattern().entries));
  product_.values(ctx, left, right, values);
  CsrView<double> const all = product_.pattern().with(static_cast<double const*>(values));
  ctx.visit([&](auto& on) {
    keep_sums(on, ctx.arena(), all, pattern().with(static_cast<double const*>(nullptr)), to);
  });
}

double CutProduct::bytes() const { return product_.bytes() + largest_->bytes(); }

Interpolation::Interpolation(Context& ctx, CsrView<double> const& a, std::uint8_t const* strong,
                             CoarsePoints coarse, Index const* rows, InterpolationRule const& rule)
    : rule_(rule), coarse_(std::move(coarse)) {
  auto scope = ctx.arena().scope();
  auto* const marks = scope.take<std::uint8_t>(static_cast<std::size_t>(a.entries));
  InterpolationView const view{a, strong, coarse_.number.data(), rows};
  ctx.visit([&](auto& on) {
    mark_fine(on, ctx.arena(), view, marks);
    to_coarse_ = coarse_pattern(on, ctx.arena(), view, coarse_.count);
  });
  fine_.emplace(ctx, a, marks);
  with_factors(ctx, a, strong, [&](CsrView<double> const& left, CsrView<double> const& right) {
    product_.emplace(ctx, left, right, rule_.most);
  });
}

template <class F>
void Interpolation::with_factors(Context& ctx, CsrView<double> const& a, std::uint8_t const* strong,
                                 F const& f) const {
  auto scope = ctx.arena().scope();
  sparse::OwnedPattern const& fine = fine_->pattern();
  auto* const left = scope.take<double>(static_cast<std::size_t>(fine.entries));
  auto* const right = scope.take<double>(static_cast<std::size_t>(to_coarse_.entries));
  InterpolationView const view{a, strong, coarse_.number.data(), nullptr};
  ctx.visit([&](auto& on) {
    interpolation_factors(on, ctx.arena(), view, rule_.way_back, fine.view(), to_coarse_.view(),
                          left, right);
  });
  f(fine.with(static_cast<double const*>(left)),
    to_coarse_.with(static_cast<double const*>(right)));
}

void Interpolation::values(Context& ctx, CsrView<double> const& a, std::uint8_t const* strong,
                           double* p) const {
  with_factors(ctx, a, strong, [&](CsrView<double> const& left, CsrView<double> const& right) {
    product_->values(ctx, left, right, p);
  });
}

double Interpolation::bytes() const {
  return double(coarse_.number.bytes()) + fine_->bytes() + bytes_of(to_coarse_) + product_->bytes();
}

}  // namespace tcsolve
