// SPDX-License-Identifier: Apache-2.0
/// Deflated conjugate gradients for sequences of systems (Saad, Yeung, Erhel and Guyomarc'h 2000,
/// Algorithm 3.5; Ritz vectors as in their section 5). A and M symmetric positive definite.
///
///     A W, W^T A W = I                                   begin
///     x = W W^T r,  r -= A x, twice                      so that W^T r = 0
///     repeat                                             step
///       z = M r,  rho = <r, z>
///       mu = (A W)^T z
///       p = z - W mu + (rho / rho_prev) p                A-orthogonal to W
///       q = A p,  a = rho / <p, q>
///       x += a p;  r -= a q
///       ||r|| <= tolerance ?                             the stopping test
///     W = Ritz vectors of span [W, first directions p]   conclude: harvest
///
/// What W spans is solved for at once, and CG iterates on the rest: with W near the eigenvectors of
/// M A that belong to its smallest eigenvalues, these no longer slow it down. W stays in the solver
/// from one solve to the next, whatever the right-hand side, and over new values of A. The first
/// solve is conjugate gradients.
///
/// The harvest is a Rayleigh-Ritz step for M A in the inner product of A, in which it is
/// symmetric: with Z = [W, p_0, p_1, ..] it solves (A Z)^T M (A Z) y = theta Z^T A Z y and keeps
/// the y of the smallest theta.
#pragma once

#include <tcsolve/solvers/deflated_cg/ops.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

struct DeflatedCgParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  int space = 24;
  int harvest = 40;
  std::string check() const {
    if (space + harvest > 64)
      return cat("'space' + 'harvest' = ", space + harvest, " is more than 64");
    return stopping.check();
  }
  static constexpr auto schema() {
    using P = DeflatedCgParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::space, "space", between(1, 48), "vectors kept from one solve to the next"),
        field(&P::harvest, "harvest", between(1, 63),
              "first directions of a solve that they are made of, beside the old ones")};
  }
};

/// With k = space and h = harvest, per iteration: one product with A, one with M, 2 k + 13 passes
/// over n values. Per solve: a product with A of k columns for new values, one with M of k + h, and
/// 20 k + 6 (k + h) passes. Memory: 2 (k + h) + 9 vectors, and k + h more during a harvest.
class DeflatedCgMethod final : public Method<double> {
 public:
  using Params = DeflatedCgParams;
  explicit DeflatedCgMethod(DeflatedCgParams const& params = {})
      : space_(params.space), harvest_(params.harvest) {}
  MethodFacts facts() const override;

 private:
  auto do_allocate(Context&) -> Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void conclude(Context&, LoopState&) override;
  void classify_stop(Context&, LoopState&) override;
  Out<double> W() { return columns(Z_, 0, space_); }
  Out<double> AW() { return columns(AZ_, 0, space_); }
  static Out<double> columns(MultiVector<double>& v, Index first, Index count);

  Index space_, harvest_;
  MultiVector<double> Z_, AZ_;  // (n, space + harvest): W and the first directions, times A
  Vector<double> z_, t_, p_, q_;
  Array<double> small_;
  double *E_ = nullptr, *N_ = nullptr, *T_ = nullptr, *mu_ = nullptr;
  Array<DeflatedCgScalars> k_;
  bool stale_ = true;  // AZ_ is of an older A
};

using DeflatedCg = SolverBy<DeflatedCgMethod>;

}  // namespace tcsolve
