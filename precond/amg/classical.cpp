// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/classical.hpp>

#include <array>
#include <utility>

#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

CoarsePoints coarse_points(Context& ctx, sparse::OwnedPattern const& strong,
                           sparse::OwnedPattern const& strong_transposed) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) {
    return coarse_points(on, ctx.arena(), strong.view(), strong_transposed.view());
  });
}

double positive_share(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  auto* const there = scope.take<double>(2);
  submit(ctx, OffDiagonalSigns{a.rows, a, there});
  std::array<double, 2> found{};
  copy_bytes(ctx, found.data(), Space::host, there, ctx.space(), sizeof found);
  auto const [positive, all] = found;
  return all > 0 ? positive / all : 0;
}

bool varies_as_an_m_matrix(Context& ctx, CsrView<double> const& a) {
  Context::Entry const entry(ctx);
  auto scope = ctx.arena().scope();
  auto* const there = scope.take<double>(2);
  submit(ctx, DiagonalRange{a.rows, a, there});
  std::array<double, 2> found{};
  copy_bytes(ctx, found.data(), Space::host, there, ctx.space(), sizeof found);
  auto const [largest, least_inverse] = found;
  constexpr double far = 100;
  return largest * least_inverse >= far && positive_share(ctx, a) <= few_positive;
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
    ClassicalRows const rows{strength_, rule_.max_row_sum};
    ctx.visit([&](auto& on) { mark_classical(on, ctx.arena(), a, rows, keep_.data()); });
    strong.emplace(ctx, a, keep_.data());
  });
  part(ctx, SetupPart::aggregates, [&] {
    sparse::Transpose const back(ctx, strong->pattern().with<double>(nullptr));
    coarse_ = coarse_points(ctx, strong->pattern(), back.pattern());
  });
  constexpr double worth = 0.95;
  failed_ = coarse_.count == 0 || coarse_.count > worth * a.rows;
  if (failed_) return;
  part(ctx, SetupPart::prolongation, [&] {
    auto scope = ctx.arena().scope();
    auto* const marks = scope.take<std::uint8_t>(static_cast<std::size_t>(a.entries));
    ctx.visit([&](auto& on) {
      mark_fine(on, ctx.arena(), a, keep_.data(), coarse_.number.data(), marks);
      to_coarse_ = coarse_pattern(on, ctx.arena(), a, keep_.data(), coarse_);
    });
    fine_.emplace(ctx, a, marks);
    product_.emplace(ctx, fine_->pattern().with<double>(nullptr), to_coarse_.with<double>(nullptr),
                     product_limits);
    auto const entries = static_cast<std::size_t>(product_->pattern().entries);
    auto* const values = scope.take<double>(entries);
    all_values(ctx, a, values);
    auto* const largest = scope.take<std::uint8_t>(entries);
    CsrView<double> const all = product_->pattern().with(static_cast<double const*>(values));
    ctx.visit([&](auto& on) { mark_largest(on, ctx.arena(), all, rule_.most, largest); });
    largest_.emplace(ctx, all, largest);
  });
  plan_galerkin(ctx, a);
}

bool Classical::thin_out(Context& ctx, CsrView<double> const& a) {
  constexpr double harder = 0.5;
  if (strength_ >= harder) return false;
  strength_ = harder;
  plan(ctx, a);
  return !failed_;
}

void Classical::all_values(Context& ctx, CsrView<double> const& a, double* values) {
  auto scope = ctx.arena().scope();
  sparse::OwnedPattern const& fine = fine_->pattern();
  auto* const left = scope.take<double>(static_cast<std::size_t>(fine.entries));
  auto* const right = scope.take<double>(static_cast<std::size_t>(to_coarse_.entries));
  ctx.visit([&](auto& on) {
    interpolation_factors(on, ctx.arena(), a, keep_.data(), coarse_.number.data(), fine, to_coarse_,
                          left, right);
  });
  product_->values(ctx, fine.with(static_cast<double const*>(left)),
                   to_coarse_.with(static_cast<double const*>(right)), values);
}

void Classical::interpolate(Context& ctx, CsrView<double> const& a, double, double* p) {
  part(ctx, SetupPart::prolongation, [&] {
    auto scope = ctx.arena().scope();
    auto* const values = scope.take<double>(static_cast<std::size_t>(product_->pattern().entries));
    all_values(ctx, a, values);
    ctx.visit([&](auto& on) {
      keep_sums(on, ctx.arena(), product_->pattern().with(static_cast<double const*>(values)),
                largest_->pattern().with(static_cast<double const*>(nullptr)), p);
    });
  });
}

double Classical::own_bytes() const {
  double const rows = fine_->pattern().rows;
  double sum = 4 * rows + double(keep_.size());  // numbers; the filter's copy
  sum += 4 * rows + 4 * double(fine_->pattern().entries);
  sum += 4 * rows + 4 * double(to_coarse_.entries);
  sum += 8 * rows + 5 * double(product_->pattern().entries);
  return sum + 4 * rows + 4 * double(largest_->pattern().entries);
}

}  // namespace tcsolve
