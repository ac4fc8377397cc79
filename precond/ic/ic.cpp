// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/ic/ic.hpp>

#include <algorithm>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

std::string IcParams::check() const {
  if (block != 1 && drop_tolerance > 0)
    return "'block' and 'drop_tolerance' exclude each other: blocks are kept whole";
  return level > 0 && drop_tolerance > 0
             ? "'level' and 'drop_tolerance' exclude each other: fill goes by level or by size"
             : "";
}

FactorRecipe IcFactory::recipe() const {
  Params const& p = checked(params_, "ic");
  return {.name = "ic",
          .symmetric = true,
          .fill = p.drop_tolerance > 0 ? FillIn::by_size : FillIn::by_level,
          .level = p.level,
          .drop_tolerance = p.drop_tolerance,
          .fill_factor = p.fill_factor,
          .complete_below = p.complete_below,
          .block = p.block,
          .arrangement = {UseMatching::off, FactorScaling::diagonal, p.order},
          .values = real(p.values),
          .solves = p.triangular,
          .sweeps = p.sweeps,
          .corrections = p.corrections,
          .part = p.part};
}

std::unique_ptr<Preconditioner> IcFactory::build(Context& ctx, System const& system) const {
  return from_factors(ctx, system, recipe(), id());
}

MemoryNeed IcFactory::memory(Context& ctx, System const& system) const {
  return factors_need(ctx, system, recipe(), id());
}

double IcFactory::most_bytes(Index rows, Offset entries) const {
  return most_factor_bytes(recipe(), rows, entries);
}

double IcFactory::bytes(Index rows, Offset entries) const {
  double const fill =
      params_.drop_tolerance > 0 ? std::min(params_.fill_factor, 2.0) : 1.0 + params_.level;
  return factor_bytes(rows, fill * static_cast<double>(entries), entries, real(params_.values));
}

}  // namespace tcsolve
