// SPDX-License-Identifier: Apache-2.0
/// LSMR (Fong and Saunders 2011): min ||b - A x||_2 for any A, rectangular or singular.
#pragma once

#include <tcsolve/solvers/driver/krylov_solver.hpp>
#include <tcsolve/solvers/lsmr/ops.hpp>

namespace tcsolve {

struct LsmrParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  bool least_squares = false;
  VectorType vectors = VectorType::fp64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = LsmrParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::least_squares, "least_squares",
              "accept a least-squares solution of a square system too (exit code 0); where A is "
              "not square it is accepted as it is")};
  }
};

/// Converged when ||r|| meets the tolerance. Where it cannot: Stop::least_squares once r has
/// nothing left along the columns of A,
///
///     nu = ||D A^T r|| / ||r|| <= min(rtol, 1e-8),    D = diag(1 / ||a_j||),    cond nu <= 0.01,
///
/// with an estimate of cond(A M) from the bidiagonalisation, and one more run from r has left ||r||
/// as it was (core/judgement.hpp). An operator without access to its columns has their lengths
/// estimated by eight products with A^T in setup(). M, n x n
/// for an m x n A, acts from the right: x = M y. Per iteration: one product each with A, A^T, M,
/// M^T. Throws Unsupported when a transpose is missing.
template <class T = double>
class LsmrMethod final : public Method<T> {
 public:
  using Params = LsmrParams;
  explicit LsmrMethod(LsmrParams const& params = {}) : accepts_(params.least_squares) {}
  MethodFacts facts() const override;

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void complete(Context&) override;
  void conclude(Context&, LoopState&) override;
  double normal_residual(Context&, In<double> r, double r_norm) override;
  double gradient() const override { return norm_of_gradient_; }
  double condition() const override { return condition_; }
  bool monitors_residual() const override { return !normal_claimed_; }

  void probe_columns(Context&);
  void transposed(Context&, In<T> u, Out<T> t);  // t = M^T A^T u

  Vector<T> q_, t_, v_, h_, hbar_, y_, between_;
  Vector<double> unit_, gradient_;
  Vector<double> columns_;  // 2^e / ||a_j||, e the exponent of ||A||, at most 0
  Array<LsmrScalars> scalars_;
  Array<double> uu_;
  bool normal_claimed_ = false;  // the last claim was about M^T A^T r
  bool tells_condition_ = true;  // this run began from more than rounding
  double norm_of_gradient_ = 0;
  double condition_ = 1;  // the largest estimate of this solve
  bool const accepts_;
};

template <class T = double>
using Lsmr = SolverBy<LsmrMethod<T>>;

}  // namespace tcsolve
