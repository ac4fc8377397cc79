// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/hierarchy.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/aggregation.hpp>
#include <tcsolve/precond/amg/classical.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/precond/amg/weights.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {
namespace {

OperatorPtr<double> borrowed(Context& ctx, CsrView<double> const& a) {
  return std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a));
}

Aggregation::Rule rule_of(AmgParams const& params, Index block, Index vectors, double strength,
                          std::shared_ptr<SetupClock> clock) {
  return {.block = block,
          .vectors = vectors,
          .strength = strength,
          .smooth = params.smoothing,
          .lanczos_steps = params.lanczos_steps,
          .clock = std::move(clock)};
}
Classical::Rule rule_of(ClassicalParams const& params, std::shared_ptr<SetupClock> clock) {
  return {.strength = params.strength,
          .max_row_sum = params.max_row_sum,
          .most = params.entries,
          .clock = std::move(clock)};
}

}  // namespace

AmgStart amg_start(Context& ctx, System const& system, AmgParams const& params) {
  CsrView<double> const& a = system.matrix;
  if (a.rows != a.cols)
    throw ShapeError(cat("amg needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  AmgStart start{{}, nullptr, std::make_shared<SetupClock>(params.timed)};
  (*start.clock)(ctx, SetupPart::near_nullspace,
                 [&] { start.space = near_nullspace(ctx, system, params.near_nullspace); });
  bool const scalar = start.space.block == 1;
  if (params.coarsening == AmgCoarsening::classical && !scalar)
    throw SetupError(cat("amg: classical coarsening is for one unknown a node, and a node has ",
                         start.space.block, "; take aggregation, or `near_nullspace: {block: 1}`"));
  start.classical =
      params.coarsening == AmgCoarsening::classical ||
      (params.coarsening == AmgCoarsening::automatic && scalar && varies_as_an_m_matrix(ctx, a));
  if (a.rows <= params.coarse_size || params.max_levels == 1) return start;
  if (start.classical)
    start.first = std::make_unique<Classical>(ctx, a, rule_of(params.classical, start.clock));
  else
    start.first = std::make_unique<Aggregation>(
        ctx, a, start.space.vectors.data(),
        rule_of(params, start.space.block, start.space.count, params.strength, start.clock));
  return start;
}

AmgHierarchy::AmgHierarchy(Context& ctx, System const& system, AmgParams const& params,
                           AmgStart start)
    : params_(params),
      block_(start.space.block),
      vectors_(start.space.count),
      classical_(start.classical),
      ratio_(start.space.ratio),
      near_nullspace_(std::move(start.space.vectors)),
      given_(system.matrix),
      clock_(std::move(start.clock)) {
  make_levels(ctx, 0, system.matrix, system.A, std::move(start.first));
}

std::unique_ptr<AmgTransfer> AmgHierarchy::next_transfer(Context& ctx, std::size_t l,
                                                         CsrView<double> const& a) const {
  if (a.rows <= params_.coarse_size || static_cast<int>(l) + 1 >= params_.max_levels)
    return nullptr;
  if (classical_) return std::make_unique<Classical>(ctx, a, rule_of(params_.classical, clock_));
  if (l == 0)
    return std::make_unique<Aggregation>(
        ctx, a, near_nullspace_.data(),
        rule_of(params_, block_, vectors_, params_.strength, clock_));
  return std::make_unique<Aggregation>(
      ctx, a, transfers_[l - 1]->coarse_vectors(),
      rule_of(params_, vectors_, vectors_, levels_[l - 1].strength / 2, clock_));
}

void AmgHierarchy::make_levels(Context& ctx, std::size_t first, CsrView<double> a,
                               OperatorPtr<double> A, std::unique_ptr<AmgTransfer> transfer) {
  levels_.resize(first);
  transfers_.resize(first);
  inverse_.reset();
  double allowed =
      params_.max_complexity * double(first == 0 ? a.entries : levels_.front().entries);
  for (AmgLevel const& l : levels_) allowed -= double(l.entries);
  for (std::size_t l = first;; ++l) {
    levels_.emplace_back();
    levels_[l].rows = a.rows, levels_[l].entries = a.entries, levels_[l].A = A;
    allowed -= double(a.entries);
    weigh(ctx, a, l);
    if (!transfer) transfer = next_transfer(ctx, l, a);
    if (!transfer || transfer->failed()) break;
    if (double(transfer->entries()) > allowed) transfer->thin_out(ctx, a);
    if (double(transfer->entries()) > allowed)
      throw SetupError(cat("amg: with level ", l + 2, " the hierarchy holds more than ",
                           params_.max_complexity,
                           " times the entries of A; raise `max_complexity`, or take fewer vectors "
                           "or a larger block for `near_nullspace`"));
    levels_[l].strength = transfer->strength();
    transfer->numbers(ctx, a, levels_[l].lambda_max);
    transfers_.push_back(std::move(transfer));
    a = transfers_[l]->coarse(), A = borrowed(ctx, a);
  }
  if (a.rows <= params_.coarse_size) solve_coarsest(ctx, a);
}

void AmgHierarchy::renew(Context& ctx, System const& system) {
  CsrView<double> a = given_ = system.matrix;
  OperatorPtr<double> A = system.A;
  for (std::size_t l = 0; l < transfers_.size(); ++l) {
    if (params_.reuse == AmgReuse::exact && !transfers_[l]->suits(ctx, a))
      return make_levels(ctx, l, a, A, nullptr);
    levels_[l].A = A;
    weigh(ctx, a, l);
    transfers_[l]->numbers(ctx, a, levels_[l].lambda_max);
    a = transfers_[l]->coarse(), A = borrowed(ctx, a);
  }
  if (params_.reuse == AmgReuse::exact)
    return make_levels(ctx, transfers_.size(), a, A, nullptr);  // the coarsest, and what follows it
  levels_.back().A = A;
  weigh(ctx, a, levels_.size() - 1);
  if (inverse_) solve_coarsest(ctx, a);
}

void AmgHierarchy::weigh(Context& ctx, CsrView<double> const& a, std::size_t l) {
  AmgLevel& level = levels_[l];
  level.weights.resize(ctx.space(), static_cast<std::size_t>(a.rows));
  ctx.cancel_flag().check();
  (*clock_)(ctx, SetupPart::spectrum, [&] {
    // The prolongation goes by D^-1 A whatever the smoother.
    smoother_weights(ctx, a, RowWeight::diagonal, static_cast<int>(l), level.weights.data());
    if (a.rows <= params_.coarse_size) return;  // it is inverted
    RowWeights const D(level.weights.data(), a.rows);
    level.lambda_max = estimate_spectrum(ctx, *level.A, D, params_.lanczos_steps, "amg").largest;
    if (params_.smoother == AmgSmoother::l1_jacobi)
      smoother_weights(ctx, a, RowWeight::l1, static_cast<int>(l), level.weights.data());
  });
}

void AmgHierarchy::solve_coarsest(Context& ctx, CsrView<double> const& a) {
  ctx.cancel_flag().check();
  (*clock_)(ctx, SetupPart::coarsest, [&] { inverse_.emplace(coarse_inverse(ctx, a)); });
}

double AmgHierarchy::grid_complexity() const {
  double sum = 0;
  for (AmgLevel const& l : levels_) sum += l.rows;
  return sum / std::max<double>(1, levels_.front().rows);
}

double AmgHierarchy::operator_complexity() const {
  double sum = 0;
  for (AmgLevel const& l : levels_) sum += double(l.entries);
  return sum / std::max<double>(1, double(levels_.front().entries));
}

std::string AmgHierarchy::summary() const {
  std::string rows, entries;
  for (AmgLevel const& l : levels_) {
    rows += cat(rows.empty() ? "" : ", ", l.rows);
    entries += cat(entries.empty() ? "" : ", ", l.entries);
  }
  char numbers[128];
  std::snprintf(numbers, sizeof numbers,
                "grid complexity %.2f, operator complexity %.2f, |A z| / (|A| |z|) %.1e",
                grid_complexity(), operator_complexity(), ratio_);
  return cat(levels_.size(), levels_.size() == 1 ? " level" : " levels", " by ",
             classical_ ? "classical coarsening" : "aggregation", ": rows ", rows, "; entries ",
             entries, "; ", numbers, " for ", vectors_, vectors_ == 1 ? " vector" : " vectors",
             ", ", block_, block_ == 1 ? " unknown" : " unknowns", " a node; the coarsest is ",
             inverse_ ? "inverted" : "smoothed");
}

}  // namespace tcsolve
