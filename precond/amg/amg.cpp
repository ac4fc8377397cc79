// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/amg.hpp>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/precond/amg/coarse_factors.hpp>
#include <tcsolve/precond/amg/cycle.hpp>
#include <tcsolve/precond/amg/level_smoother.hpp>
#include <tcsolve/precond/amg/stored_levels.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

/// Before new values have come: by a key that speaks of them. Most matrices have none, and whoever
/// gives new values once gives them again.
AmgPlans first_plans(AmgParams const& params) {
  bool const named = params.reuse == AmgReuse::pattern || params.reuse == AmgReuse::interpolation;
  return named ? AmgPlans::kept : AmgPlans::ended;
}

std::shared_ptr<AmgHierarchy> hierarchy_of(Context& ctx, System const& system,
                                           AmgParams const& params, AmgPlans plans) {
  return std::make_shared<AmgHierarchy>(ctx, system, params, amg_start(ctx, system, params), plans);
}

class OwnedAmg final : public Preconditioner {
 public:
  OwnedAmg(Context& ctx, AmgParams const& params, std::shared_ptr<AmgHierarchy> hierarchy)
      : params_(params), hierarchy_(std::move(hierarchy)) {
    store(ctx);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    bounded_ = false;
    if (!hierarchy_->renewable() || is_symmetric(ctx, system) != hierarchy_->symmetric()) {
      hierarchy_ = again(ctx, system, AmgPlans::kept);
      return store(ctx);
    }
    if (!hierarchy_->renew(ctx, system)) return store(ctx);
    bool holds = false;
    hierarchy_->clock()(ctx, SetupPart::storing, [&] { holds = M_->renew(ctx); });
    if (!holds) store(ctx);
  }
  bool widen(Context& ctx, System const& system) override {
    bool const narrow = M_->is_narrow();
    // Vectors that are to be FP32 have no FP64 matrix.
    bool const fp32 =
        types_of(ctx, params_).values == Real::f32 && params_.vectors != AmgVectors::f32;
    bool const wider = narrow || fp32;
    if (!wider && bounded_) return false;
    if (wider) params_.values = narrow ? AmgValues::f32 : AmgValues::f64;
    bounded_ = !wider;
    if (!hierarchy_->renewable()) hierarchy_ = again(ctx, system, AmgPlans::ended);
    hierarchy_->take_values(params_.values);
    if (bounded_ && !hierarchy_->bound_spectra(ctx)) {
      if (!hierarchy_->renewable()) hierarchy_->leave({});  // M_ has its own
      return false;
    }
    ctx.log(Severity::note, cat("amg: the cycle is made again, ",
                                bounded_ ? "with norms that bound the spectra it had estimated"
                                : narrow ? "in fp32"
                                         : "in fp64"));
    store(ctx);
    return true;
  }

 private:
  /// A set-up of what is left of one.
  std::shared_ptr<AmgHierarchy> again(Context& ctx, System const& system, AmgPlans plans) {
    auto space = hierarchy_->take_near_nullspace();
    if (!space) return hierarchy_of(ctx, system, params_, plans);
    return std::make_shared<AmgHierarchy>(
        ctx, system, params_, amg_start(ctx, system, params_, std::move(*space)), plans);
  }
  void store(Context& ctx) {
    hierarchy_->clock()(ctx, SetupPart::storing,
                        [&] { M_ = std::make_shared<AmgCycle>(ctx, hierarchy_); });
    if (!hierarchy_->renewable()) hierarchy_->leave(M_->in_place());
    for (std::string const& line : lines_of(M_->hierarchy_facts()))
      ctx.log(Severity::detail, "amg: " + line);
  }
  AmgParams params_;
  std::shared_ptr<AmgHierarchy> hierarchy_;
  std::shared_ptr<AmgCycle> M_;
  bool bounded_ = false;  // no estimate of these values is left in it
};

}  // namespace

std::unique_ptr<Preconditioner> AmgFactory::build(Context& ctx, System const& system) const {
  AmgParams const& params = checked(params_, "amg");
  // What memory() has made of it.
  auto const begun =
      system.notes ? system.notes->take<std::shared_ptr<AmgHierarchy>>(id()) : nullptr;
  std::shared_ptr<AmgHierarchy> hierarchy =
      begun ? *begun : hierarchy_of(ctx, system, params, first_plans(params));
  hierarchy->complete(ctx);
  return std::make_unique<OwnedAmg>(ctx, params, std::move(hierarchy));
}

/// With a level that is smoothed above the one that is inverted, in a device's types, and without
/// what is known of other rows.
std::unique_ptr<Preconditioner> AmgFactory::build_in_miniature(Context& ctx,
                                                               System const& few) const {
  AmgParams params = checked(params_, "amg");
  params.coarse_size = std::min(params.coarse_size, few.matrix.rows / 2);
  params.near_nullspace = {};
  if (params.values == AmgValues::automatic) params.values = automatic_values(true);
  return std::make_unique<OwnedAmg>(ctx, params,
                                    hierarchy_of(ctx, few, params, first_plans(params)));
}

namespace {

/// Of a hierarchy that is begun: what it holds once it is complete, and stored. Levels that are not
/// there are taken to shrink as the last one does that is.
MemoryNeed foretold(Context& ctx, AmgHierarchy const& made) {
  AmgParams const& params = made.params();
  auto const [values, vectors] = types_of(ctx, params);
  std::vector<AmgLevel> const& levels = made.levels();
  bool const narrow = values != Real::f64 || vectors != Real::f64, kept = made.renewable();
  std::size_t const last = levels.size() - 1;
  double const vector = double(size_of(vectors)), products = 2 * params.degree * amg_iterations;
  auto const smoother = level_smoother_factory(params.smoother, vectors);
  auto const of_level = [&](std::size_t l) {
    double sum = vector * levels[l].rows;
    if (smoother) sum += smoother->bytes(levels[l].rows, levels[l].entries);
    // A itself is the caller's where it is FP64.
    if (l == 0 && !narrow && params.format == "auto") return sum;
    return sum + stored_bytes(ctx, params, values_of(ctx, params, l), made.matrix(l), products,
                              l == 0 || made.node_rows(l) > 1, kept || l == 0);
  };
  auto const of_transfer = [&](std::size_t l) {
    double sum = 0;
    for (CsrView<double> const& part : {made.transfer(l).P(), made.transfer(l).R()})
      sum +=
          stored_bytes(ctx, params, values_of(ctx, params, l), part, amg_iterations, false, kept);
    return sum;
  };
  MemoryNeed need;
  need.space = kept ? made.bytes() : made.bytes_left();
  if (narrow) need.space += 8.0 * levels[0].rows;  // scales
  double level = 0, transfer = 0;
  for (std::size_t l = 0; l < last; ++l) {
    level = of_level(l), transfer = of_transfer(l);
    need.space += level + transfer;
  }
  double rows = levels[last].rows;
  if (last > 0 && !made.inverse()) {
    double const shrinks = rows / levels[last - 1].rows;
    double const sparser = double(levels[last].entries) / double(levels[last - 1].entries);
    double more = kept ? (made.transfer(last - 1).bytes() + level + transfer) * sparser
                       : of_level(last) + transfer * sparser;
    for (auto l = int(last); rows > params.coarse_size && l + 1 < params.max_levels; ++l) {
      rows *= shrinks;
      need.space += more + (kept ? 8 * rows : 0);
      more *= shrinks;
      need.exact = false;
    }
    if (kept && rows <= params.coarse_size) need.space += 12 * rows * rows + 4 * rows;
  }
  double const indices = made.symmetric() ? 0 : 4;
  need.space += rows <= params.coarse_size ? (vector + indices) * rows * rows : of_level(last);
  if (rows > params.coarse_size && params.coarse == AmgCoarse::direct) {
    need.space += CoarseFactors::bytes(static_cast<Index>(rows), levels[last].entries);
    need.exact = false;
  }
  return need;
}

}  // namespace

MemoryNeed AmgFactory::memory(Context& ctx, System const& system) const {
  AmgParams const& params = checked(params_, "amg");
  AmgStart start = amg_start(ctx, system, params);
  bool const coarsens = start.first && !start.first->failed();
  // Of the first level, which a set-up begins with.
  double const plans = coarsens ? start.first->bytes() : 0;
  if (MemoryNeed const begun{.space = plans}; !fits(ctx, begun)) return begun;
  constexpr int seen = 2;
  auto hierarchy = std::make_shared<AmgHierarchy>(ctx, system, params, std::move(start),
                                                  first_plans(params), seen);
  MemoryNeed need = foretold(ctx, *hierarchy);
  need.passing = 48.0 * params.coarse_size * params.coarse_size;
  bool const kept = hierarchy->renewable();
  if (ctx.space() == Space::host)
    need.passing += kept ? need.space : plans;
  else if (MemoryNeed const most{.space = need.space + plans}; !kept && !fits(ctx, most))
    return most;
  if (system.notes) system.notes->keep(id(), std::move(hierarchy));
  return need;
}

}  // namespace tcsolve
