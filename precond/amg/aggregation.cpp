// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/aggregation.hpp>

#include <utility>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/joined_pattern.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/precond/amg/weights.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {

Aggregation::Aggregation(Context& ctx, CsrView<double> const& a, double const* B, Rule const& rule)
    : AmgTransfer(rule.clock), rule_(rule) {
  strength_ = rule.strength;
  if (!rule.symmetric)
    part(ctx, SetupPart::strength, [&] {
      symmetric_part_.emplace(ctx, a);
      h_ = Array<double>(ctx.space(), static_cast<std::size_t>(symmetric_part_->pattern().entries));
    });
  CsrView<double> const h = symmetric(ctx, a);
  Aggregates const made = aggregate(ctx, h);
  double const rows = double(made.count) * rule_.vectors;
  constexpr double worth = 0.9;
  failed_ = made.count == 0 || rows > worth * a.rows;
  if (failed_) return;
  part(ctx, SetupPart::prolongation, [&] { plan_prolongation(ctx, h, made, B); });
  try {
    plan_galerkin(ctx, a, rule_.block, rule_.vectors);
  } catch (SizeError const&) {  // of a row with entries everywhere; with one aggregate it has one
    if (!thin_out(ctx, a)) throw;
  }
}

CsrView<double> Aggregation::symmetric(Context& ctx, CsrView<double> const& a) {
  if (!symmetric_part_) return a;
  symmetric_part_->values(ctx, a, h_.data());
  h_is_new_ = true;
  return symmetric_part_->pattern().with(std::as_const(h_).data());
}

/// With the strength of the rule, or 0 where that would leave too many rows.
Aggregates Aggregation::aggregate(Context& ctx, CsrView<double> const& h) {
  for (;;) {
    StrengthGraph graph;
    part(ctx, SetupPart::strength, [&] { graph = strength_graph(ctx, h, rule_.block, strength_); });
    Aggregates made;
    part(ctx, SetupPart::aggregates, [&] { made = aggregates(ctx, graph.strong); });
    keep_ = std::move(graph.keep), blocks_ = std::move(graph.blocks);
    keeps_all_ = graph.keeps_all;
    // Nodes without a strong coupling are in no aggregate, and their couplings are lost.
    double const left = double(made.count) * rule_.vectors + double(graph.weak) * rule_.block;
    constexpr double shrinks = 0.7;
    if (left <= shrinks * h.rows || strength_ == 0) return made;
    strength_ = 0;
  }
}

void Aggregation::plan_prolongation(Context& ctx, CsrView<double> const& h, Aggregates const& made,
                                    double const* B) {
  tentative_ = tentative_pattern(ctx, made, rule_.block, rule_.vectors);
  t_ = Array<double>(ctx.space(), static_cast<std::size_t>(tentative_.pattern.entries));
  coarse_vectors_ =
      Array<double>(ctx.space(), std::size_t(made.count) * rule_.vectors * rule_.vectors);
  tentative_values(ctx, tentative_, B, t_.data(), coarse_vectors_.data());
  plain_ = !rule_.smooth;
  if (plain_) return;
  if (!keeps_all_) filter(ctx, h);
  CsrView<double> const smoother = filter_ ? filter_->pattern().with<double>(nullptr) : h;
  ctx.cancel_flag().check();
  if (rule_.vectors == 1) joined_ = joined_pattern(ctx, smoother, tentative_.pattern.view());
  if (joined_) return;
  product_.emplace(ctx, smoother, tentative_.pattern.with<double>(nullptr), product_limits,
                   sparse::ProductBlocks{rule_.block, rule_.block, rule_.vectors});
}

/// Entries that are dropped go to the diagonal, so that constants stay where they are; between the
/// unknowns of different nodes the diagonal is not the place for them.
void Aggregation::filter(Context& ctx, CsrView<double> const& h) {
  ctx.cancel_flag().check();
  try {
    filter_.emplace(ctx, h, keep_.data(),
                    rule_.block == 1 ? sparse::Lump::diagonal : sparse::Lump::none);
  } catch (MatrixError const& e) {
    throw SetupError(cat("amg: each row needs a diagonal entry (", e.what(),
                         "); take ilu, or reorder rows so that diagonals are not zero"));
  }
}

bool Aggregation::suits(Context& ctx, CsrView<double> const& a) {
  if (strength_ != rule_.strength)
    return false;  // it fell to 0: another try begins as this one did
  bool same = false;
  part(ctx, SetupPart::strength, [&] {
    same = same_couplings(ctx, symmetric(ctx, a), rule_.block, strength_, blocks_.view(),
                          keep_.data());
  });
  return same;
}

bool Aggregation::thin_out(Context& ctx, CsrView<double> const& a) {
  if (plain_) return false;
  plain_ = true;
  filter_.reset(), joined_.reset(), product_.reset();
  plan_galerkin(ctx, a, rule_.block, rule_.vectors);
  return true;
}

sparse::OwnedPattern Aggregation::release_p() {
  if (!strong()) keep_ = {};  // of H's entries, which are not A's
  sparse::OwnedPattern P = joined_    ? std::move(*joined_)
                           : product_ ? std::move(*product_).release()
                                      : std::move(tentative_.pattern);
  symmetric_part_.reset(), filter_.reset(), joined_.reset(), product_.reset();
  tentative_ = {}, blocks_ = {};
  t_ = {}, h_ = {};
  return P;
}

double Aggregation::own_bytes() const {
  double const rows = tentative_.pattern.rows, t = double(tentative_.pattern.entries);
  double sum = 4 * rows + 12 * t + 4.0 * double(tentative_.nodes.size()) +
               4.0 * tentative_.aggregates + bytes_of(blocks_);
  if (filter_) sum += double(keep_.size()) + 4 * rows + 4 * double(filter_->pattern().entries);
  if (joined_) sum += bytes_of(*joined_);
  if (product_) sum += product_->bytes();
  if (symmetric_part_) sum += symmetric_part_->bytes() + 8.0 * double(h_.size());
  return sum;
}

void Aggregation::interpolate(Context& ctx, CsrView<double> const& a, double lambda_max,
                              double* p) {
  if (plain_)
    return copy<double, double>(
        ctx, std::as_const(t_).view(),
        {p, static_cast<Index>(t_.size()), 1, 1, Layout::row_major, ctx.space()});
  auto scope = ctx.arena().scope();
  Out<double> const d = scope.vector<double>(a.rows);
  // Values of H that the aggregates or suits() were found by are of the same a.
  CsrView<double> const h =
      h_is_new_ ? symmetric_part_->pattern().with(std::as_const(h_).data()) : symmetric(ctx, a);
  h_is_new_ = false;
  CsrView<double> f = h;
  if (filter_) {
    sparse::OwnedPattern const& filtered = filter_->pattern();
    auto* const values = scope.take<double>(static_cast<std::size_t>(filtered.entries));
    filter_->values(ctx, h, values);
    positive_diagonal(ctx, h, filtered, values, d.data);
    f = filtered.with(static_cast<double const*>(values));
  } else {
    smoother_weights(ctx, h, RowWeight::diagonal, 1, d.data);
  }
  if (filter_ || symmetric_part_) {  // lambda_max is of another matrix
    CsrOperator<double> const H_F(ctx, CsrStorage<double>(ctx, f), CsrNorm::left_out);
    RowWeights const D(d.data, a.rows);
    part(ctx, SetupPart::spectrum, [&] {
      lambda_max =
          estimate_spectrum(ctx, H_F, D, rule_.lanczos_steps, "amg", Indefinite::ignore).largest;
    });
  }
  part(ctx, SetupPart::prolongation, [&] {
    CsrView<double> const T = tentative_.pattern.with(static_cast<double const*>(t_.data()));
    double const omega = 4 / (3 * lambda_max);
    if (joined_) return smooth_joined(ctx, f, T, d.data, omega, *joined_, p);
    auto* const product = scope.take<double>(static_cast<std::size_t>(product_->pattern().entries));
    product_->values(ctx, f, T, product);
    smooth(ctx, product_->pattern().with(static_cast<double const*>(product)), T, d.data, omega, p);
  });
}

}  // namespace tcsolve
