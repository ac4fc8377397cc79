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

std::shared_ptr<AmgHierarchy> hierarchy_of(Context& ctx, System const& system,
                                           AmgParams const& params) {
  return std::make_shared<AmgHierarchy>(ctx, system, params, amg_start(ctx, system, params));
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
    bool const others_learned =
        params_.reuse == AmgReuse::exact && params_.near_nullspace.learn > 0;
    if (params_.reuse == AmgReuse::none || others_learned ||
        is_symmetric(ctx, system) != hierarchy_->symmetric()) {
      hierarchy_ = hierarchy_of(ctx, system, params_);
      return store(ctx);
    }
    if (!hierarchy_->renew(ctx, system)) return store(ctx);
    bool holds = false;
    hierarchy_->clock()(ctx, SetupPart::storing, [&] { holds = M_->renew(ctx); });
    if (!holds) store(ctx);
  }
  bool widen(Context& ctx, System const&) override {
    bool const narrow = M_->is_narrow();
    // Vectors that are to be FP32 have no FP64 matrix.
    bool const fp32 =
        types_of(ctx, params_).values == Real::f32 && params_.vectors != AmgVectors::f32;
    if (narrow || fp32) {
      params_.values = narrow ? AmgValues::f32 : AmgValues::f64;
      hierarchy_->take_values(params_.values);
    } else {
      if (bounded_ || !hierarchy_->bound_spectra(ctx)) return false;
      bounded_ = true;
    }
    ctx.log(Severity::note, cat("amg: the cycle is made again, ",
                                bounded_ ? "with norms that bound the spectra it had estimated"
                                : narrow ? "in fp32"
                                         : "in fp64"));
    store(ctx);
    return true;
  }

 private:
  void store(Context& ctx) {
    hierarchy_->clock()(ctx, SetupPart::storing,
                        [&] { M_ = std::make_shared<AmgCycle>(ctx, hierarchy_); });
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
  std::shared_ptr<AmgHierarchy> hierarchy = begun ? *begun : hierarchy_of(ctx, system, params);
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
  return std::make_unique<OwnedAmg>(ctx, params, hierarchy_of(ctx, few, params));
}

namespace {

/// Of a hierarchy that is begun: what it holds once it is complete, and stored. Levels that are not
/// there are taken to shrink as the last one does that is.
MemoryNeed foretold(Context& ctx, AmgHierarchy const& made) {
  AmgParams const& params = made.params();
  auto const [values, vectors] = types_of(ctx, params);
  std::vector<AmgLevel> const& levels = made.levels();
  bool const narrow = values != Real::f64 || vectors != Real::f64;
  std::size_t const last = levels.size() - 1;
  double const vector = double(size_of(vectors)), products = 2 * params.degree * amg_iterations;
  MemoryNeed need;
  need.space = made.bytes();
  if (narrow) need.space += 8.0 * levels[0].rows;  // scales
  double stored = 0;
  auto const smoother = level_smoother_factory(params.smoother, vectors);
  auto const smoother_bytes = [&](Index rows, Offset entries) {
    return smoother ? smoother->bytes(rows, entries) : 0.0;
  };
  for (std::size_t l = 0; l < last; ++l) {
    AmgTransfer const& transfer = made.transfer(l);
    // A itself is the caller's where it is FP64.
    bool const given = l == 0 && !narrow && params.format == "auto";
    stored = given ? 0.0
                   : stored_bytes(ctx, params, values_of(ctx, params, l), made.matrix(l), products,
                                  l == 0 || made.node_rows(l) > 1);
    for (CsrView<double> const& part : {transfer.P(), transfer.R()})
      stored += stored_bytes(ctx, params, values_of(ctx, params, l), part, amg_iterations, false);
    stored += vector * levels[l].rows + smoother_bytes(levels[l].rows, levels[l].entries);
    need.space += stored;
  }
  double rows = levels[last].rows;
  if (last > 0 && !made.inverse()) {
    double const shrinks = rows / levels[last - 1].rows;
    double const sparser = double(levels[last].entries) / double(levels[last - 1].entries);
    double more = (made.transfer(last - 1).bytes() + stored) * sparser;
    for (auto l = int(last); rows > params.coarse_size && l + 1 < params.max_levels; ++l) {
      rows *= shrinks;
      need.space += more + 8 * rows;
      more *= shrinks;
      need.exact = false;
    }
    if (rows <= params.coarse_size) need.space += 12 * rows * rows + 4 * rows;
  }
  double const indices = made.symmetric() ? 0 : 4;
  need.space += rows <= params.coarse_size
                    ? (vector + indices) * rows * rows
                    : stored_bytes(ctx, params, values_of(ctx, params, last), made.matrix(last),
                                   products, last == 0 || made.node_rows(last) > 1) +
                          smoother_bytes(levels[last].rows, levels[last].entries) + vector * rows;
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
  MemoryNeed need;
  if (start.first && !start.first->failed()) need.space = start.first->bytes();
  if (!fits(ctx, need))
    return need;  // the first level alone, of which no more than the plan exists
  constexpr int seen = 2;
  auto hierarchy = std::make_shared<AmgHierarchy>(ctx, system, params, std::move(start), seen);
  need = foretold(ctx, *hierarchy);
  need.passing = need.space + 48.0 * params.coarse_size * params.coarse_size;
  if (system.notes) system.notes->keep(id(), std::move(hierarchy));
  return need;
}

}  // namespace tcsolve
