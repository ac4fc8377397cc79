// SPDX-License-Identifier: Apache-2.0
/// M = diag(1 / ||a_j||), a_j the columns of any A: what Jacobi is to A, it is to A^T A. For lsmr,
/// which takes M from the right. A column without entries has m_jj = 1.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {

class ColumnScalingFactory final : public FromFactors {
 public:
  using Params = NoParams;
  explicit ColumnScalingFactory(Params const& = {}) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  bool bytes_are_all() const override { return true; }
  MemoryNeed memory(Context& ctx, System const& system) const override {
    Index const n = system.matrix.cols;
    return stored_need(ctx, n, n, Real::f64);
  }
};

}  // namespace tcsolve
