// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level.hpp>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/weights.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {

AmgTransfer::AmgTransfer(Context& ctx, CsrView<double> const& a, double const* B, Rule const& rule)
    : rule_(rule), asked_(rule.strength), given_entries_(a.entries) {
  if (!rule_.clock) rule_.clock = std::make_shared<SetupClock>();
  Aggregates const made = aggregate(ctx, a);
  double const rows = double(made.count) * rule_.vectors;
  constexpr double worth = 0.9;
  failed_ = made.count == 0 || rows > worth * a.rows;
  if (failed_) return;
  part(ctx, SetupPart::prolongation, [&] { plan_prolongation(ctx, a, made, B); });
  plan_galerkin(ctx, a);
}

/// With the strength of the rule, or 0 where that would leave too many rows.
Aggregates AmgTransfer::aggregate(Context& ctx, CsrView<double> const& a) {
  for (;;) {
    StrengthGraph graph;
    part(ctx, SetupPart::strength,
         [&] { graph = strength_graph(ctx, a, rule_.block, rule_.strength); });
    Aggregates made;
    part(ctx, SetupPart::aggregates, [&] { made = aggregates(ctx, graph.strong); });
    keep_ = std::move(graph.keep);
    // Nodes without a strong coupling are in no aggregate, and their couplings are lost.
    double const left = double(made.count) * rule_.vectors + double(graph.weak) * rule_.block;
    constexpr double shrinks = 0.7;
    if (left <= shrinks * a.rows || rule_.strength == 0) return made;
    rule_.strength = 0;
  }
}

void AmgTransfer::plan_prolongation(Context& ctx, CsrView<double> const& a, Aggregates const& made,
                                    double const* B) {
  tentative_ = tentative_pattern(ctx, made, rule_.block, rule_.vectors);
  t_ = Array<double>(ctx.space(), static_cast<std::size_t>(tentative_.pattern.entries));
  coarse_B_ = Array<double>(ctx.space(), std::size_t(made.count) * rule_.vectors * rule_.vectors);
  tentative_values(ctx, tentative_, B, t_.data(), coarse_B_.data());
  if (!rule_.smooth) return;
  // Entries that are dropped go to the diagonal, so that constants stay where they are; between
  // the unknowns of different nodes the diagonal is not the place for them.
  ctx.cancel_flag().check();
  filter_.emplace(ctx, a, keep_.data(),
                  rule_.block == 1 ? sparse::Lump::diagonal : sparse::Lump::none);
  if (filter_->pattern().entries == a.entries) filter_.reset();
  CsrView<double> const smoother = filter_ ? filter_->pattern().with<double>(nullptr) : a;
  ctx.cancel_flag().check();
  product_.emplace(ctx, smoother, tentative_.pattern.with<double>(nullptr));
}

bool AmgTransfer::suits(Context& ctx, CsrView<double> const& a) const {
  if (asked_ != rule_.strength) return false;
  ctx.cancel_flag().check();
  return same_couplings(ctx, keep_, strength_graph(ctx, a, rule_.block, rule_.strength).keep);
}

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
  double const rows = tentative_.pattern.rows, coarse = coarse_rows(),
               t = double(tentative_.pattern.entries), p = double(interpolation_entries()),
               nodes = double(tentative_.nodes.size());
  double sum =
      4 * rows + 12 * t + 4 * nodes + 4.0 * tentative_.aggregates + 8.0 * double(coarse_B_.size());
  if (filter_) sum += double(given_entries_) + 4 * rows + 4 * double(filter_->pattern().entries);
  if (product_) sum += 8 * rows + 4 * p;
  sum += 4 * coarse + 8 * p;                                   // P^T
  sum += 8 * rows + 4 * double(galerkin_->product_entries());  // A P
  sum += 8 * coarse + 4 * double(entries());                   // P^T A P
  return sum + 16 * p + 8 * double(entries());
}

void AmgTransfer::leave_unsmoothed(Context& ctx, CsrView<double> const& a) {
  filter_.reset(), product_.reset();
  plan_galerkin(ctx, a);
}

void AmgTransfer::smooth_tentative(Context& ctx, CsrView<double> const& a, double lambda_max) {
  auto scope = ctx.arena().scope();
  Out<double> const d = scope.vector<double>(a.rows);
  sparse::OwnedPattern const* filtered = nullptr;
  CsrView<double> f = a;
  if (filter_) {
    filtered = &filter_->pattern();
    auto* const values = scope.take<double>(static_cast<std::size_t>(filtered->entries));
    filter_->values(ctx, a, values);
    positive_diagonal(ctx, a, *filtered, values, d.data);
    f = filtered->with(static_cast<double const*>(values));
    CsrOperator<double> const A_F(ctx, CsrStorage<double>(ctx, f));
    RowWeights const D(d.data, a.rows);
    part(ctx, SetupPart::spectrum, [&] {
      lambda_max =
          estimate_spectrum(ctx, A_F, D, rule_.lanczos_steps, "amg", Indefinite::ignore).largest;
    });
  } else {
    smoother_weights(ctx, a, RowWeight::diagonal, 1, d.data);
  }
  part(ctx, SetupPart::prolongation, [&] {
    CsrView<double> const T = tentative_.pattern.with(static_cast<double const*>(t_.data()));
    auto* const product = scope.take<double>(static_cast<std::size_t>(product_->pattern().entries));
    product_->values(ctx, f, T, product);
    smooth(ctx, product_->pattern().with(static_cast<double const*>(product)), T, d.data,
           4 / (3 * lambda_max), p_.data());
  });
}

void AmgTransfer::numbers(Context& ctx, CsrView<double> const& a, double lambda_max) {
  if (product_)
    smooth_tentative(ctx, a, lambda_max);
  else
    copy<double, double>(ctx, std::as_const(t_).view(), p_.view());
  part(ctx, SetupPart::galerkin_values, [&] {
    galerkin_->values(ctx, a, P(), c_.data());
    galerkin_->restriction().values(ctx, static_cast<double const*>(p_.data()), r_.data());
  });
}

}  // namespace tcsolve
