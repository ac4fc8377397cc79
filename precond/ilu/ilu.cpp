// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/ilu/ilu.hpp>

#include <algorithm>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

std::string IluParams::check() const {
  if (block != 1 && drop_tolerance > 0)
    return "'block' and 'drop_tolerance' exclude each other: blocks are kept whole";
  if (block != 1 && arrangement.matching == UseMatching::on)
    return "'block' and 'matching: on' exclude each other: rows of a node stay together";
  return level > 0 && drop_tolerance > 0
             ? "'level' and 'drop_tolerance' exclude each other: fill goes by level or by size"
             : "";
}

FactorRecipe IluFactory::recipe() const {
  Params const& p = checked(params_, "ilu");
  return {.name = "ilu",
          .fill = p.drop_tolerance > 0 ? FillIn::by_size : FillIn::by_level,
          .level = p.level,
          .drop_tolerance = p.drop_tolerance,
          .fill_factor = p.fill_factor,
          .complete_below = p.complete_below,
          .pivot_floor = p.pivot_floor,
          .block = p.block,
          .arrangement = p.arrangement,
          .values = real(p.values),
          .solves = p.triangular,
          .sweeps = p.sweeps,
          .corrections = p.corrections,
          .part = p.part};
}

std::unique_ptr<Preconditioner> IluFactory::build(Context& ctx, System const& system) const {
  return from_factors(ctx, system, recipe(), id());
}

MemoryNeed IluFactory::memory(Context& ctx, System const& system) const {
  return factors_need(ctx, system, recipe(), id());
}

double IluFactory::most_bytes(Index rows, Offset entries) const {
  return most_factor_bytes(recipe(), rows, entries);
}

double IluFactory::bytes(Index rows, Offset entries) const {
  double const fill =
      params_.drop_tolerance > 0 ? std::min(params_.fill_factor, 2.0) : 1.0 + params_.level;
  return factor_bytes(rows, fill * static_cast<double>(entries), entries, real(params_.values));
}

}  // namespace tcsolve
