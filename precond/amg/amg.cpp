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

MemoryNeed AmgFactory::memory(Context& ctx, System const& system) const {
  AmgParams const& params = checked(params_, "amg");
  AmgStart start = amg_start(ctx, system, params);
  double rows = system.matrix.rows, held = 8 * rows * (1 + start.space.count);
  MemoryNeed need;
  if (start.first && !start.first->failed()) {
    AmgTransfer const& first = *start.first;
    double bytes = first.bytes();
    // Coarser levels are taken to shrink as the first one does.
    double const shrinks = first.coarse_rows() / rows,
                 entries = double(first.entries()) / double(system.matrix.entries);
    for (int levels = 1;; ++levels) {
      held += bytes + 8 * rows * shrinks;
      rows *= shrinks, bytes *= entries;
      if (rows <= params.coarse_size || levels + 1 >= params.max_levels || entries >= 1) break;
      need.exact = false;
    }
  }
  if (rows <= params.coarse_size) held += 12 * rows * rows + 8 * rows;
  need.space = held;
  need.passing = held + 48.0 * params.coarse_size * params.coarse_size;
  if (system.notes) system.notes->keep(id(), std::move(start));
  return need;
}

}  // namespace tcsolve
