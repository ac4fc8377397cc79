// SPDX-License-Identifier: Apache-2.0
/// Preconditioned conjugate gradients: Saad 2003, Algorithm 9.1. A and M symmetric positive
/// definite.
///
///     x = 0,  rho = <r, M r>                             begin
///     repeat                                             step
///       z = M r,  rho = <r, z>
///       x += a p;  p = z + (rho / rho_prev) p            x is one step late: p is read once
///       q = A p,  sigma = <p, q>
///       a = rho / sigma;  r -= a q
///       ||r|| <= tolerance, or no better for long?       Observe: the stopping test
///     x += a p                                           complete
///
/// x solves A x = r for the r that the driver hands over, and is added to the caller's x when the
/// true residual confirms it (solvers/driver/krylov_solver.hpp). A loop also ends where rho <= 0 (M
/// is indefinite) or sigma <= 0 (A is; classify_stop() tells indefinite from singular).
#pragma once

#include <tcsolve/solvers/cg/ops.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

/// How p = z + beta p is made: fixed, beta = rho / rho_prev, for an M that is the same map in every
/// step; flexible, beta = -<z, q> / sigma, for one that varies (Golub and Ye 1999; Notay 2000);
/// automatic: as M says of itself (Traits::fixed).
enum class Beta { automatic, fixed, flexible };
constexpr auto names(Beta) {
  return std::array{std::pair{Beta::automatic, "auto"}, std::pair{Beta::fixed, "fixed"},
                    std::pair{Beta::flexible, "flexible"}};
}

struct CgParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  Beta beta = Beta::automatic;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = CgParams;
    return std::tuple{include(&P::stopping), field(&P::execution, "execution", execution_doc),
                      field(&P::vectors, "vectors", vectors_doc),
                      field(&P::beta, "beta",
                            "of p = z + beta p: flexible for a preconditioner that varies from one "
                            "step to the next, as an inner solver does; it makes p orthogonal to "
                            "the p before by A itself, for two vectors more read an iteration; "
                            "auto: where the preconditioner varies")};
  }
};

/// Per iteration: one product with A, one with M, 12 vector passes of n values. A diagonal M is
/// folded into the updates, its entries counted; what another M reads for itself comes on top.
/// Memory: r, d, the kept d, z, p, q and 3 FP64 vectors of the driver. A residual that rises from
/// one step to the next after it has fallen by half costs one vector written.
template <class T = double>
class CgMethod final : public Method<T> {
 public:
  using Params = CgParams;
  explicit CgMethod(CgParams const& params = {}) : beta_(params.beta) {}
  MethodFacts facts() const override {
    return {.name = "cg",
            .cost = {.vectors = 9,
                     .products = 1,
                     .applications = 1,
                     .passes = beta_ == Beta::flexible ? 11.0 : 9.0},
            .needs = {.symmetric = true,
                      .definite = true,
                      .fixed_preconditioner = beta_ == Beta::fixed},
            .batches = beta_ != Beta::flexible,
            .renews = true};
  }

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void complete(Context&) override;
  void replace(Context&) override;
  void classify_stop(Context&, LoopState&) override;
  void classify_stop_in_batch(Context&, double const* norm_A) override;
  double seen_condition(Context&) override;

  Vector<T> z_, p_, q_;
  Diagonal<T> D_;        // M, where it is diagonal, else the identity
  bool folded_ = false;  // M is diagonal, and so does not vary
  Beta const beta_;
  bool flexible_ = false;  // as M or the parameters want it, and M is not folded
  Array<CgScalars> k_;
  Array<LanczosSteps> steps_;  // none where A and the vectors are FP64
};

template <class T = double>
using Cg = SolverBy<CgMethod<T>>;

}  // namespace tcsolve
