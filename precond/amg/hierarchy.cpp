// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/hierarchy.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/amg/aggregation.hpp>
#include <tcsolve/precond/amg/classical.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/precond/amg/learn.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/amg/skew_ops.hpp>
#include <tcsolve/precond/amg/weights.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {
namespace {

OperatorPtr<double> borrowed(Context& ctx, CsrView<double> const& a) {
  return std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a), CsrNorm::left_out);
}

Aggregation::Rule rule_of(AmgParams const& params, std::size_t level, Index block, Index vectors,
                          double strength, bool symmetric, std::shared_ptr<SetupClock> clock) {
  return {.block = block,
          .vectors = vectors,
          .strength = strength,
          .smooth = params.smoothing && static_cast<int>(level) >= params.unsmoothed,
          .symmetric = symmetric,
          .lanczos_steps = params.lanczos_steps,
          .clock = std::move(clock)};
}
Classical::Rule rule_of(ClassicalParams const& params, std::size_t level,
                        std::shared_ptr<SetupClock> clock) {
  return {.strength = params.strength,
          .absolute = params.absolute,
          .max_row_sum = params.max_row_sum,
          .interpolation = {.way_back = params.interpolation == AmgInterpolation::mm_ext_i,
                            .most = params.entries},
          .aggressive = static_cast<int>(level) < params.aggressive,
          .clock = std::move(clock)};
}

AmgSmoother smoother_of(AmgParams const& params, bool symmetric) {
  auto const is = [&](AmgSmoother one) { return params.smoother == one; };
  if (!symmetric && (is(AmgSmoother::chebyshev) || is(AmgSmoother::fsai)))
    throw SetupError(cat(
        "amg: ", is(AmgSmoother::fsai) ? "fsai" : "chebyshev",
        " smooths symmetric matrices, and this one is not symmetric; take `smoother: l1_jacobi` or "
        "spai0, or ilu, with bicgstab or gmres"));
  if (symmetric && is(AmgSmoother::ilu))
    throw SetupError(
        "amg: ilu smooths matrices that are not symmetric, and with this one, which is, the cycle "
        "would be; take `smoother: chebyshev` or fsai");
  if (params.smoother != AmgSmoother::automatic) return params.smoother;
  // What bounds spai0 where A is not symmetric is a norm, and strong convection gets past it.
  return symmetric ? AmgSmoother::chebyshev : AmgSmoother::l1_jacobi;
}

}  // namespace

bool is_symmetric(Context& ctx, System const& system) {
  return system.symmetric ? *system.symmetric : is_symmetric(ctx, system.matrix);
}

namespace {

/// |A z| / (|A| |z|) of a z that A nearly maps to zero, but for the boundary.
constexpr double near_zero = 0.06;

/// sum |a_ij - a_ji| / sum (|a_ij| + |a_ji|) over i != j. Upwind differences of a convection of c
/// times a cell's diffusion make c / (2 + c) of a direction. Cost: a search for each entry, a wait.
double skew_share(Context& ctx, CsrView<double> const& a) {
  auto const [differences, sizes] = two_sums(ctx, SkewSizes{a.rows, a, nullptr});
  return sizes > 0 ? differences / sizes : 0;
}
/// Of c = 2. Where convection is stronger a cycle takes more iterations, and incomplete factors
/// fewer: unknowns follow each other along the flow.
constexpr double most_skew = 0.5;

/// With translations that A does not nearly map to zero, but for the boundary, coarse levels
/// represent nothing that smoothing leaves; nor do they, as a rule, where unknowns that are not of
/// one node repel each other, or where convection is strong.
void require_elliptic(Context& ctx, CsrView<double> const& a, NearNullspace const& space) {
  double const ratio = space.ratios.empty() ? 0.0 : *std::ranges::max_element(space.ratios);
  if (!(ratio <= near_zero))
    throw SetupError(cat("amg: elliptic: |A z| / (|A| |z|) is ", ratio, " for a vector of the ",
                         "near-nullspace, more than ", near_zero, "; leave out `elliptic`"));
  if (space.block > 1) return;
  if (double const positive = positive_share(ctx, a); !(positive <= few_positive))
    throw SetupError(cat("amg: elliptic: ", positive, " of the off-diagonal entries, by size, are ",
                         "positive; leave out `elliptic`"));
  if (double const skew = skew_share(ctx, a); !(skew <= most_skew))
    throw SetupError(cat("amg: elliptic: A and its transpose differ by ", skew, " of the ",
                         "off-diagonal entries, by size, more than ", most_skew,
                         ": convection is strong; leave out `elliptic`"));
}

/// With one unknown a node. Where diagonals differ by decades aggregation groups too little, and
/// where a row's couplings do that it holds strong, too much.
bool suits_classical(Context& ctx, CsrView<double> const& a, AmgParams const& params,
                     NearNullspace const& space) {
  if (varies_as_an_m_matrix(ctx, a)) return true;
  constexpr double much = 0.15, most_positive = 1.0 / 3;
  double const theta = AmgParams{}.strength, strength = ClassicalParams{}.strength;
  double const ratio = space.ratios.empty() ? 0.0 : *std::ranges::max_element(space.ratios);
  return params.near_nullspace.learn == 0 && ratio <= near_zero &&
         hidden_anisotropy(ctx, a, theta, strength) >= much &&
         positive_share(ctx, a) <= most_positive;
}

/// x += W r overshoots from lambda_max(W A) = 2 on, and M would not be positive definite: W becomes
/// smaller where `bound` of it is too near to that. Returns whether.
bool lower_weights(Context& ctx, Out<double> W, double bound) {
  constexpr double most = 1.9;
  if (bound <= most) return false;
  axpby<double, double>(ctx, most / bound, In<double>(W), 0.0, W);
  return true;
}

/// f() plans what leads to level l + 2, counted from 1.
template <class F>
auto planned(std::size_t l, F const& f) {
  try {
    return f();
  } catch (SizeError const& e) {
    throw SetupError(cat("amg: level ", l + 2, ": ", e.what(),
                         ": rows with many entries make it dense; take another preconditioner"));
  }
}

}  // namespace

AmgStart amg_start(Context& ctx, System const& system, AmgParams const& params) {
  CsrView<double> const& a = system.matrix;
  if (a.rows != a.cols)
    throw ShapeError(cat("amg needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  auto const clock = std::make_shared<SetupClock>(params.timed);
  NearNullspace space;
  (*clock)(ctx, SetupPart::near_nullspace, [&] {
    space = near_nullspace(ctx, system, params.near_nullspace);
    if (params.elliptic) require_elliptic(ctx, a, space);
    bool const has_levels = a.rows > params.coarse_size;
    if (params.near_nullspace.learn > 0 && has_levels)
      space = learned(ctx, system, params, std::move(space));
  });
  return amg_start(ctx, system, params, std::move(space), clock);
}

AmgStart amg_start(Context& ctx, System const& system, AmgParams const& params, NearNullspace space,
                   std::shared_ptr<SetupClock> clock) {
  CsrView<double> const& a = system.matrix;
  if (!clock) clock = std::make_shared<SetupClock>(params.timed);
  AmgStart start{std::move(space), nullptr, std::move(clock)};
  (*start.clock)(ctx, SetupPart::symmetry, [&] { start.symmetric = is_symmetric(ctx, system); });
  smoother_of(params, start.symmetric);  // refuses
  if (params.fp64_levels > 0 && params.vectors == AmgVectors::f32)
    throw SetupError(
        "amg: fp64_levels: a cycle on FP32 vectors has no FP64 matrix; take `vectors: fp64`, or "
        "leave it out");
  bool const scalar = start.space.block == 1;
  if (params.coarsening == AmgCoarsening::classical && !scalar)
    throw SetupError(cat("amg: classical coarsening is for one unknown a node, and a node has ",
                         start.space.block, "; take aggregation, or `near_nullspace: {block: 1}`"));
  bool const may = scalar && !start.space.given;
  if (params.coarsening == AmgCoarsening::classical && !may)
    throw SetupError(
        "amg: near_nullspace: vectors are of aggregation; classical coarsening represents "
        "constants");
  start.classical = params.coarsening == AmgCoarsening::classical ||
                    (params.coarsening == AmgCoarsening::automatic && may &&
                     suits_classical(ctx, a, params, start.space));
  if (start.classical && params.near_nullspace.learn > 0)
    throw SetupError(
        "amg: near_nullspace: learn is of aggregation; classical coarsening represents constants");
  if (a.rows <= params.coarse_size || params.max_levels == 1) return start;
  start.first = planned(0, [&]() -> std::unique_ptr<AmgTransfer> {
    if (start.classical)
      return std::make_unique<Classical>(ctx, a, rule_of(params.classical, 0, start.clock));
    return std::make_unique<Aggregation>(ctx, a, start.space.vectors.data(),
                                         rule_of(params, 0, start.space.block, start.space.count,
                                                 params.strength, start.symmetric, start.clock));
  });
  return start;
}

AmgHierarchy::AmgHierarchy(Context& ctx, System const& system, AmgParams const& params,
                           AmgStart start, AmgPlans plans, int transfers)
    : params_(params),
      block_(start.space.block),
      vectors_(start.space.count),
      classical_(start.classical),
      symmetric_(start.symmetric),
      ratios_(std::move(start.space.ratios)),
      near_nullspace_(std::move(start.space.vectors)),
      given_vectors_(start.space.given),
      given_(system.matrix),
      clock_(std::move(start.clock)) {
  params_.smoother = smoother_of(params, symmetric_);
  bool const by_values = classical_ || params.near_nullspace.learn > 0;
  renewable_ = plans == AmgPlans::kept && params.reuse != AmgReuse::none &&
               !(params.reuse == AmgReuse::exact && by_values);
  make_levels(ctx, 0, system.matrix, system.A, std::move(start.first), transfers);
}

void AmgHierarchy::complete(Context& ctx) {
  if (complete_) return;
  std::size_t const last = levels_.size() - 1;
  make_levels(ctx, last, matrix(last), levels_[last].A, nullptr);
}

std::unique_ptr<AmgTransfer> AmgHierarchy::next_transfer(Context& ctx, std::size_t l,
                                                         CsrView<double> const& a) const {
  if (a.rows <= params_.coarse_size || static_cast<int>(l) + 1 >= params_.max_levels)
    return nullptr;
  if (classical_) return std::make_unique<Classical>(ctx, a, rule_of(params_.classical, l, clock_));
  if (l == 0)
    return std::make_unique<Aggregation>(
        ctx, a, near_nullspace_.data(),
        rule_of(params_, 0, block_, vectors_, params_.strength, symmetric_, clock_));
  return std::make_unique<Aggregation>(
      ctx, a, transfers_[l - 1]->coarse_vectors(),
      rule_of(params_, l, vectors_, vectors_, levels_[l - 1].strength / 2, symmetric_, clock_));
}

void AmgHierarchy::make_levels(Context& ctx, std::size_t first, CsrView<double> a,
                               OperatorPtr<double> A, std::unique_ptr<AmgTransfer> transfer,
                               int transfers) {
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
    if (static_cast<int>(l) == transfers) return;
    weigh(ctx, a, l);
    if (!transfer) transfer = planned(l, [&] { return next_transfer(ctx, l, a); });
    if (transfer && transfer->failed() && l == 0)
      ctx.log(Severity::note,
              cat("amg: no coarser level of ", a.rows,
                  " rows could be made: A alone is smoothed; "
                  "take another `coarsening`, or fewer vectors of `near_nullspace`"));
    if (!transfer || transfer->failed()) break;
    while (double(transfer->entries()) > allowed && transfer->thin_out(ctx, a)) {}
    if (double(transfer->entries()) > allowed)
      throw SetupError(cat("amg: with level ", l + 2, " the hierarchy holds more than ",
                           params_.max_complexity,
                           " times the entries of A; raise `max_complexity`, or take fewer vectors "
                           "or a larger block for `near_nullspace`"));
    levels_[l].strength = transfer->strength();
    transfer->numbers(ctx, a, levels_[l].lambda_max);
    if (!renewable_) transfer->end_plans();
    transfers_.push_back(std::move(transfer));
    a = transfers_[l]->coarse(), A = borrowed(ctx, a);
  }
  if (a.rows <= params_.coarse_size) solve_coarsest(ctx, a);
  complete_ = true;
}

bool AmgHierarchy::renew(Context& ctx, System const& system) {
  CsrView<double> a = given_ = system.matrix;
  OperatorPtr<double> A = system.A;
  std::size_t const transfers = transfers_.size();
  for (std::size_t l = 0; l < transfers; ++l) {
    if (params_.reuse == AmgReuse::exact && !transfers_[l]->suits(ctx, a)) {
      make_levels(ctx, l, a, A, nullptr);
      return false;
    }
    levels_[l].A = A;
    weigh(ctx, a, l);
    if (params_.reuse == AmgReuse::interpolation)
      transfers_[l]->coarsen(ctx, a);
    else
      transfers_[l]->numbers(ctx, a, levels_[l].lambda_max);
    // The arrays of the coarser matrix are where they were.
    a = transfers_[l]->coarse(), A = levels_[l + 1].A;
  }
  if (params_.reuse == AmgReuse::exact && !inverse_) {
    make_levels(ctx, transfers, a, A, nullptr);  // what may follow the coarsest now
    return transfers_.size() == transfers;
  }
  levels_.back().A = A;
  weigh(ctx, a, levels_.size() - 1);
  if (inverse_) solve_coarsest(ctx, a);
  return true;
}

void AmgHierarchy::weigh(Context& ctx, CsrView<double> const& a, std::size_t l) {
  AmgLevel& level = levels_[l];
  level.weights.resize(ctx.space(), static_cast<std::size_t>(a.rows));
  ctx.cancel_flag().check();
  (*clock_)(ctx, SetupPart::spectrum, [&] {
    // The prolongation goes by D^-1 A whatever the smoother.
    double const norm =
        smoother_weights(ctx, a, RowWeight::diagonal, static_cast<int>(l), level.weights.data());
    if (a.rows <= params_.coarse_size) return;  // it is inverted
    RowWeights const D(level.weights.data(), a.rows);
    // To look is a wait. It is not worth it where rows are not dominant, whose norm is far away,
    // nor where they are few, whose steps take no longer.
    constexpr double dominant = 2.001, none = std::numeric_limits<double>::infinity();
    constexpr Index few = 1 << 16;
    double const bound = norm <= dominant && a.rows > few ? norm : none;
    if (symmetric_)
      level.lambda_max = estimate_spectrum(ctx, *level.A, D, params_.lanczos_steps, "amg",
                                           Indefinite::refuse, bound)
                             .largest;
    weigh_smoother(ctx, a, l);
  });
}

void AmgHierarchy::weigh_smoother(Context& ctx, CsrView<double> const& a, std::size_t l) {
  AmgLevel& level = levels_[l];
  double* const w = level.weights.data();
  if (params_.smoother == AmgSmoother::l1_jacobi)
    return void(smoother_weights(ctx, a, RowWeight::l1, static_cast<int>(l), w));
  if (params_.smoother != AmgSmoother::spai0) return;
  double const norm = smoother_weights(ctx, a, RowWeight::spai0, static_cast<int>(l), w);
  RowWeights const W(w, a.rows);
  lower_weights(ctx, level.weights.view(),
                symmetric_
                    ? spectrum_margin *
                          estimate_spectrum(ctx, *level.A, W, params_.lanczos_steps, "amg").largest
                    : norm);
}

bool AmgHierarchy::bound_spectra(Context& ctx) {
  bool raised = false;
  for (std::size_t l = 0; l < levels_.size() && !(is_coarsest(l) && inverse_); ++l) {
    AmgLevel& level = levels_[l];
    double const norm = norm_of_weighted(ctx, matrix(l), level.weights.data());
    if (params_.smoother == AmgSmoother::chebyshev && norm > level.lambda_max)
      level.lambda_max = norm, raised = true;
    if (params_.smoother == AmgSmoother::spai0)
      raised = lower_weights(ctx, level.weights.view(), norm) || raised;
  }
  return raised;
}

void AmgHierarchy::solve_coarsest(Context& ctx, CsrView<double> const& a) {
  ctx.cancel_flag().check();
  (*clock_)(ctx, SetupPart::coarsest, [&] {
    if (inverse_)
      renew_coarse_inverse(ctx, a, symmetric_, *inverse_);
    else
      inverse_.emplace(coarse_inverse(ctx, a, symmetric_));
  });
}

void AmgHierarchy::leave(std::vector<AmgInPlace> const& read) {
  for (std::size_t l = 0; l < transfers_.size(); ++l)
    transfers_[l]->leave(l < read.size() ? read[l] : AmgInPlace{});
  for (AmgLevel& l : levels_) l.weights = {};
  for (std::size_t l = 1; l < levels_.size(); ++l) levels_[l].A.reset();  // A_0 is the caller's
  inverse_.reset();
  if (!near_nullspace_of_files()) near_nullspace_ = {};
}

/// And of nothing else.
bool AmgHierarchy::near_nullspace_of_files() const {
  NearNullspaceParams const& by = params_.near_nullspace;
  bool const solid = !by.coordinates.empty() && !by.points;
  return (solid || !by.files.empty()) && by.learn == 0;
}

std::optional<NearNullspace> AmgHierarchy::take_near_nullspace() {
  if (!near_nullspace_of_files() || near_nullspace_.size() == 0) return std::nullopt;
  return NearNullspace{std::move(near_nullspace_), vectors_, block_, given_vectors_, ratios_};
}

double AmgHierarchy::bytes() const {
  double sum = 8.0 * double(near_nullspace_.size());
  for (AmgLevel const& l : levels_) sum += double(l.weights.bytes());
  for (auto const& transfer : transfers_) sum += transfer->bytes();
  if (inverse_) {
    double const rows = inverse_->view().rows;
    sum += 12 * rows * rows + 4 * rows;
  }
  return sum;
}

double AmgHierarchy::bytes_left() const {
  return near_nullspace_of_files() ? double(near_nullspace_.bytes()) : 0.0;
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

HierarchyFacts AmgHierarchy::facts() const {
  HierarchyFacts facts;
  for (std::size_t l = 0; l < levels_.size(); ++l)
    facts.levels.push_back(
        {.rows = levels_[l].rows,
         .entries = levels_[l].entries,
         .strength = levels_[l].strength,
         .prolongation = is_coarsest(l) ? 0 : transfers_[l]->interpolation_entries()});
  facts.grid_complexity = grid_complexity();
  facts.operator_complexity = operator_complexity();
  facts.unknowns = block_;
  facts.symmetric = symmetric_;
  facts.near_nullspace = ratios_;
  for (auto const& [part, what] : names(SetupPart{}))
    facts.seconds.emplace_back(what, clock_->seconds(part));
  return facts;
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
                grid_complexity(), operator_complexity(),
                ratios_.empty() ? 0.0 : *std::ranges::max_element(ratios_));
  return cat(levels_.size(), levels_.size() == 1 ? " level" : " levels", " by ",
             classical_ ? "classical coarsening" : "aggregation", ": rows ", rows, "; entries ",
             entries, "; ", numbers, " for ", vectors_, vectors_ == 1 ? " vector" : " vectors",
             ", ", block_, block_ == 1 ? " unknown" : " unknowns", " a node");
}

}  // namespace tcsolve
