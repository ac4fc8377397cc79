// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/ic/ic.hpp>

#include <tcsolve/configs/schema/checked.hpp>

namespace tcsolve {

FactorRecipe IcFactory::recipe() const {
  Params const& p = checked(params_, "ic");
  FactorRecipe r{.name = "ic",
                 .symmetric = true,
                 .arrangement = {UseMatching::off, FactorScaling::diagonal, p.order}};
  p.fill.put_into(r);
  p.factors.put_into(r);
  return r;
}

}  // namespace tcsolve
