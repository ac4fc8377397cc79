// SPDX-License-Identifier: Apache-2.0
/// A smoother of a level that is a preconditioner of this floor: steps x += w S r with
///
///     fsai    S = G^T G, for symmetric A      w = 1, or less, so that lambda_max(w S A) <= 1.9
///     ilu     S = (L U)^-1 on A's pattern     w = 1
///
/// From lambda_max(w S A) = 2 on, a step overshoots and a cycle is not positive definite. S is made
/// of the matrix that the cycle multiplies by, scaled by powers of two where that is: both
/// preconditioners scale with it, exactly.
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/precond/amg/params.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

/// The factory of S with values of a type; null for a smoother that is a diagonal.
std::unique_ptr<PreconditionerFactory> level_smoother_factory(AmgSmoother, Real values);

class LevelSmoother {
 public:
  /// Of a level's matrix in FP64 in the Context's space, which may go. Throws SetupError, and as
  /// the factory. Cost: that of S and, for fsai, `steps` products with A and S.
  LevelSmoother(Context&, AmgSmoother, Real values, CsrView<double> const& a, int steps);
  /// Of new values on the same pattern; S may be another operator.
  void update(Context&, CsrView<double> const& a);

  OperatorPtr<double> S() const { return owner_->view(); }
  double weight() const { return weight_; }

 private:
  /// f(the system of a).
  template <class F>
  void with_system(Context&, CsrView<double> const& a, F const& f);

  AmgSmoother kind_;
  int steps_;
  std::unique_ptr<PreconditionerFactory> factory_;
  std::unique_ptr<Preconditioner> owner_;
  double weight_ = 1;
};

}  // namespace tcsolve
