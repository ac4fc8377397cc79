// SPDX-License-Identifier: Apache-2.0
/// `preconditioner: auto`. Beside a solver it stands for those of a RecipeList; inside another
/// preconditioner, where nobody judges the outcome, it is the first one that can be made. Of
/// several ranks all take the same.
#pragma once

#include <tcsolve/configs/schema/read.hpp>
#include <tcsolve/precond/over_ranks.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

class AutoPreconditionerFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = NoParams;
  explicit AutoPreconditionerFactory(Params const& = {}) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  bool bytes_are_all() const override { return false; }
  /// Of the first recipe that fits; nothing over ranks. build() refuses each by itself.
  MemoryNeed memory(Context&, System const&) const override;
};

}  // namespace tcsolve
