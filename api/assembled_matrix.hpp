// SPDX-License-Identifier: Apache-2.0
/// The matrix of a caller who gives entries (i, j, v): its arrays in CSR, where the Context
/// computes.
#pragma once

#include <tcsolve/sparse/assembly.hpp>

namespace tcsolve {

class AssembledMatrix {
 public:
  /// Copies the numbers that lie in another space, finds the places and sums the values into them.
  AssembledMatrix(Context& ctx, CooView const& entries);

  /// New values (entries) of `space`. Throws ShapeError for another number of them.
  void update(double const* values, Offset entries, Space space);
  /// Borrows what is owned here, until the second update() from here on: whoever has borrowed it
  /// may read it until the new values are handed over.
  CsrView<double> view() const { return plan_.pattern().with(values_[now_].data()); }

 private:
  Context& ctx_;
  sparse::Assembly plan_;
  Array<double> values_[2];  // of the places: in force, and before
  int now_ = 1;
  Array<double> staged_;  // of the entries, where they come from another space
};

}  // namespace tcsolve
