// SPDX-License-Identifier: Apache-2.0
/// LSMR (Fong and Saunders 2011): min ||b - A x||_2 for any A, rectangular or singular.
#pragma once

#include <tcsolve/kernels/verbs/lsmr.hpp>
#include <tcsolve/solvers/krylov_solver.hpp>

namespace tcsolve {

struct LsmrParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = LsmrParams;
    return std::tuple{include(&P::stopping), field(&P::execution, "execution", execution_doc)};
  }
};

/// Converged when ||r|| meets the tolerance, or when r is that of a least-squares solution:
/// ||A^T r|| <= min(rtol, 1e-8) ||A|| ||r||. M, n x n for an m x n A, acts from the right: x = M y.
/// Per iteration: one product each with A, A^T, M, M^T. Throws Unsupported when a transpose is
/// missing.
template <class T = double>
class Lsmr final : public KrylovSolver<T> {
 public:
  using Params = LsmrParams;
  explicit Lsmr(LsmrParams const& params = {})
      : KrylovSolver<T>(params.stopping, params.execution) {}
  std::string name() const override { return "lsmr"; }
  SolverCost cost() const override { return {15, 2, 2, 18, true}; }

 private:
  void allocate(Context&) override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void finish(Context&, LoopState&) override;
  double normal_residual(Context&, In<double> r, double r_norm) override;
  bool square() const override { return false; }
  bool monitors_residual() const override { return !normal_claimed_; }

  void transposed(Context&, In<T> u, Out<T> t);  // t = M^T A^T u

  Vector<T> q_, t_, v_, h_, hbar_, y_, between_;
  Vector<double> unit_, normal_;
  Array<LsmrScalars> scalars_;
  Array<double> uu_;
  bool normal_claimed_ = false;  // the last claim was about M^T A^T r
};

}  // namespace tcsolve
