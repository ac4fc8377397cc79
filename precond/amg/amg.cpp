// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/amg.hpp>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/precond/amg/cycle.hpp>

namespace tcsolve {
namespace {

class OwnedAmg final : public Preconditioner {
 public:
  OwnedAmg(Context& ctx, System const& system, AmgParams const& params, AmgStart start)
      : params_(params) {
    make(ctx, system, std::move(start));
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    if (params_.reuse == AmgReuse::none) return make(ctx, system, amg_start(ctx, system, params_));
    hierarchy_->renew(ctx, system);
    store(ctx);
  }
  bool widen(Context& ctx, System const&) override {
    if (!M_->is_narrow()) return false;
    params_.values = AmgValues::f32;
    hierarchy_->take_values(params_.values);
    store(ctx);
    return true;
  }

 private:
  void make(Context& ctx, System const& system, AmgStart start) {
    hierarchy_ = std::make_shared<AmgHierarchy>(ctx, system, params_, std::move(start));
    store(ctx);
  }
  void store(Context& ctx) {
    hierarchy_->clock()(ctx, SetupPart::storing,
                        [&] { M_ = std::make_shared<AmgCycle>(ctx, hierarchy_); });
    M_->log_table(ctx);
  }
  AmgParams params_;
  std::shared_ptr<AmgHierarchy> hierarchy_;
  std::shared_ptr<AmgCycle const> M_;
};

}  // namespace

std::unique_ptr<Preconditioner> AmgFactory::build(Context& ctx, System const& system) const {
  AmgParams const& params = checked(params_, "amg");
  auto const found = system.notes ? system.notes->take<AmgStart>(id()) : nullptr;
  return std::make_unique<OwnedAmg>(ctx, system, params,
                                    found ? std::move(*found) : amg_start(ctx, system, params));
}

namespace {

/// What an application multiplies by on a level that has a coarser one, about (stored_levels.hpp):
/// A, P and P^T where they are not borrowed, and weights. p: entries of P.
double stored_bytes(AmgTypes const& types, double rows, double entries, double p, double coarse) {
  double const value = double(size_of(types.values)), vector = double(size_of(types.vectors));
  constexpr double index = 4, own_format = 1e5;  // entries; below them FP64 borrows what there is
  bool const narrow = types.values != Real::f64 || types.vectors != Real::f64;
  auto const of = [&](double n, double m) {
    return narrow || n >= own_format ? (value + index) * n + index * m : 0.0;
  };
  return of(entries, rows) + of(p, rows) + of(p, coarse) + vector * rows;
}

}  // namespace

MemoryNeed AmgFactory::memory(Context& ctx, System const& system) const {
  AmgParams const& params = checked(params_, "amg");
  AmgTypes const types = types_of(ctx, params);
  AmgStart start = amg_start(ctx, system, params);
  double rows = system.matrix.rows, entries = double(system.matrix.entries);
  double held = 8 * rows * (2 + start.space.count);  // weights, scales, near-nullspace
  MemoryNeed need;
  if (start.first && !start.first->failed()) {
    AmgTransfer const& first = *start.first;
    double bytes = first.bytes(), p = double(first.interpolation_entries());
    double const shrinks = first.coarse_rows() / rows, fewer = double(first.entries()) / entries;
    // Coarser levels are taken to shrink as the first one does. Rows of the second one hold more
    // entries than those of the first, further ones about as many.
    for (int levels = 1;; ++levels) {
      double const coarse = rows * shrinks;
      // A itself is the caller's where it is FP64.
      bool const given = levels == 1 && types.values == Real::f64 && params.format == "auto";
      held += bytes + stored_bytes(types, rows, given ? 0.0 : entries, p, coarse) + 8 * coarse;
      rows = coarse, entries *= levels == 1 ? fewer : shrinks;
      bytes *= levels == 1 ? fewer / 2 : shrinks, p *= levels == 1 ? 1.5 * shrinks : shrinks;
      if (rows <= params.coarse_size || levels + 1 >= params.max_levels) break;
      need.exact = false;
    }
  }
  if (rows <= params.coarse_size)
    held += (12 + double(size_of(types.vectors))) * rows * rows + 8 * rows;
  need.space = held;
  need.passing = held + 48.0 * params.coarse_size * params.coarse_size;
  if (system.notes) system.notes->keep(id(), std::move(start));
  return need;
}

}  // namespace tcsolve
