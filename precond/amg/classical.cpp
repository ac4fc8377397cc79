// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/classical.hpp>

#include <utility>

#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/sparse/rows.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

CoarsePoints coarse_points(Context& ctx, sparse::OwnedPattern const& strong,
                           sparse::OwnedPattern const& strong_transposed) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) {
    return coarse_points(on, ctx.arena(), strong.view(), strong_transposed.view());
  });
}

CoarsePoints coarse_points_among(Context& ctx, CsrView<double> const& a, std::uint8_t const* strong,
                                 CoarsePoints const& among) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  auto const entries = static_cast<std::size_t>(a.entries);
  auto* const rows = scope.take<std::uint8_t>(entries);
  auto* const cols = scope.take<std::uint8_t>(entries);
  ctx.visit([&](auto& on) {
    mark_two_steps(on, ctx.arena(), a, strong, among.number.data(), rows, cols);
  });
  sparse::Filter const first(ctx, a, rows), second(ctx, a, cols);
  sparse::OwnedPattern const two =
      sparse::Product(ctx, first.pattern().with<double>(nullptr),
                      second.pattern().with<double>(nullptr), product_limits)
          .release();
  sparse::Transpose const back(ctx, two.with<double>(nullptr));
  return coarse_points(ctx, two, back.pattern());
}

double positive_share(Context& ctx, CsrView<double> const& a) {
  auto const [positive, all] = two_sums(ctx, OffDiagonalSigns{a.rows, a, nullptr});
  return all > 0 ? positive / all : 0;
}

bool varies_as_an_m_matrix(Context& ctx, CsrView<double> const& a) {
  auto const [largest, least_inverse] = two_sums(ctx, DiagonalRange{a.rows, a, nullptr});
  constexpr double far = 100;
  return largest * least_inverse >= far && positive_share(ctx, a) <= few_positive;
}

double hidden_anisotropy(Context& ctx, CsrView<double> const& a, double theta, double strength) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  Out<double> const d = scope.vector<double>(a.rows);
  sparse::diagonal<double>(ctx, a, d);
  auto const [weak, all] =
      two_sums(ctx, WeakInTheirRow{a.rows, a, d.data, theta, strength, nullptr});
  return all > 0 ? weak / all : 0;
}

Classical::Classical(Context& ctx, CsrView<double> const& a, Rule const& rule)
    : AmgTransfer(rule.clock), rule_(rule) {
  strength_ = rule.strength;
  plan(ctx, a);
}

void Classical::plan(Context& ctx, CsrView<double> const& a) {
  std::optional<sparse::Filter> strong;
  part(ctx, SetupPart::strength, [&] {
    keep_ = Array<std::uint8_t>(ctx.space(), static_cast<std::size_t>(a.entries));
    ClassicalRows const rows{strength_, rule_.max_row_sum, rule_.absolute};
    ctx.visit([&](auto& on) { mark_classical(on, ctx.arena(), a, rows, keep_.data()); });
    strong.emplace(ctx, a, keep_.data());
  });
  CoarsePoints points, fewer;
  part(ctx, SetupPart::aggregates, [&] {
    sparse::Transpose const back(ctx, strong->pattern().with<double>(nullptr));
    points = coarse_points(ctx, strong->pattern(), back.pattern());
    if (rule_.aggressive) fewer = coarse_points_among(ctx, a, keep_.data(), points);
  });
  constexpr double worth = 0.95;
  failed_ = points.count == 0 || points.count > worth * a.rows;
  if (failed_) return;
  part(ctx, SetupPart::prolongation,
       [&] { plan_prolongation(ctx, a, std::move(points), std::move(fewer)); });
  plan_galerkin(ctx, a);
}

void Classical::plan_prolongation(Context& ctx, CsrView<double> const& a, CoarsePoints points,
                                  CoarsePoints fewer) {
  second_.reset(), both_.reset();
  InterpolationRule const& rule = rule_.interpolation;
  if (!rule_.aggressive) {
    stage_.emplace(ctx, a, keep_.data(), std::move(points), nullptr, rule);
    return;
  }
  second_.emplace(ctx, a, keep_.data(), std::move(fewer), points.number.data(), rule);
  // Columns of the first stage are rows of the second.
  ctx.visit([&](auto& on) { stay_in_place(on, ctx.arena(), a.rows, points.number.data()); });
  points.count = a.rows;
  stage_.emplace(ctx, a, keep_.data(), std::move(points), nullptr, rule);
  with_stages(ctx, a, [&](CsrView<double> const& first, CsrView<double> const& second) {
    both_.emplace(ctx, first, second, rule.most);
  });
}

template <class F>
void Classical::with_stages(Context& ctx, CsrView<double> const& a, F const& f) {
  auto scope = ctx.arena().scope();
  auto const of = [&](Interpolation const& stage) {
    auto* const values = scope.take<double>(static_cast<std::size_t>(stage.pattern().entries));
    stage.values(ctx, a, keep_.data(), values);
    return stage.pattern().with(static_cast<double const*>(values));
  };
  CsrView<double> const first = of(*stage_);
  f(first, of(*second_));
}

bool Classical::thin_out(Context& ctx, CsrView<double> const& a) {
  constexpr double harder = 0.5;
  if (strength_ < harder)
    strength_ = harder;
  else if (!rule_.aggressive)
    strength_ = rule_.strength, rule_.aggressive = true;
  else
    return false;
  plan(ctx, a);
  return !failed_;
}

void Classical::interpolate(Context& ctx, CsrView<double> const& a, double, double* p) {
  part(ctx, SetupPart::prolongation, [&] {
    if (!both_) return stage_->values(ctx, a, keep_.data(), p);
    with_stages(ctx, a, [&](CsrView<double> const& first, CsrView<double> const& second) {
      both_->values(ctx, first, second, p);
    });
  });
}

sparse::OwnedPattern Classical::release_p() {
  sparse::OwnedPattern P = both_ ? std::move(*both_).release() : std::move(*stage_).release();
  stage_.reset(), second_.reset(), both_.reset();
  return P;
}

double Classical::own_bytes() const {
  return stage_->bytes() + (both_ ? second_->bytes() + both_->bytes() : 0.0);
}

}  // namespace tcsolve
