// SPDX-License-Identifier: Apache-2.0
/// Preconditioned MINRES: Paige and Saunders 1975; Elman, Silvester and Wathen 2014, Algorithm 4.1.
/// A symmetric, definite or not; M symmetric positive definite.
#pragma once

#include <tcsolve/solvers/driver/krylov_solver.hpp>
#include <tcsolve/solvers/minres/ops.hpp>

namespace tcsolve {

struct MinresParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = MinresParams;
    return std::tuple{include(&P::stopping), field(&P::execution, "execution", execution_doc),
                      field(&P::vectors, "vectors", vectors_doc)};
  }
};

/// Per iteration: one product with A, one with M. The monitored norm is the residual's in the inner
/// product of M, its 2-norm when there is no preconditioner. On a singular or nonsymmetric A it may
/// go on falling while the residual does not, so the driver looks at the true residual: after 100,
/// 200, 400, ... steps (n + 10 first where that is less), and when x has become so large that it
/// drowns. A look costs one product with A_true and some vector passes, about 1 % in all.
template <class T = double>
class MinresMethod final : public Method<T> {
 public:
  using Params = MinresParams;
  explicit MinresMethod(MinresParams const& = {}) {}
  MethodFacts facts() const override;

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void replace(Context&) override;
  void complete(Context&) override;
  void conclude(Context&, LoopState&) override;
  bool monitors_residual() const override { return !this->system().preconditioned; }

  Vector<T> v_prev_, q_, z_, zn_, w_, w_prev_;
  Array<MinresScalars> scalars_;
};

template <class T = double>
using Minres = SolverBy<MinresMethod<T>>;

}  // namespace tcsolve
