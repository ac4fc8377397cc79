// SPDX-License-Identifier: Apache-2.0
/// The factory of a preconditioner by incomplete factors: all that follows from its recipe.
#pragma once

#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {

class IncompleteFactory : public FromFactors {
 public:
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  MemoryNeed memory(Context&, System const&) const override;
  double bytes(Index rows, Offset entries) const override;
  double most_bytes(Index rows, Offset entries) const override;
  bool goes_by_blocks() const override { return recipe().block != 1; }

 private:
  /// Of parameters that have been checked.
  virtual FactorRecipe recipe() const = 0;
};

}  // namespace tcsolve
