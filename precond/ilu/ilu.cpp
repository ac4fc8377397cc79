// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/ilu/ilu.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

std::string IluParams::check() const {
  if (std::string const wrong = fill.check(); !wrong.empty()) return wrong;
  return fill.block != 1 && arrangement.matching == UseMatching::on
             ? "'block' and 'matching: on' exclude each other: rows of a node stay together"
             : "";
}

FactorRecipe IluFactory::recipe() const {
  Params const& p = checked(params_, "ilu");
  FactorRecipe r{.name = "ilu", .pivot_floor = p.pivot_floor, .arrangement = p.arrangement};
  p.fill.put_into(r);
  p.factors.put_into(r);
  return r;
}

}  // namespace tcsolve
