// SPDX-License-Identifier: Apache-2.0
/// Conjugate gradients that wait for one reduction an iteration instead of two. A and M symmetric
/// positive definite. In exact arithmetic both take the steps of cg; rounding delays them somewhat
/// (Carson, Rozloznik, Strakos, Tichy and Tuma 2018).
#pragma once

#include <tcsolve/solvers/driver/krylov_solver.hpp>
#include <tcsolve/solvers/pipelined_cg/ops.hpp>

namespace tcsolve {

struct OneReductionParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = OneReductionParams;
    return std::tuple{include(&P::stopping), field(&P::execution, "execution", execution_doc),
                      field(&P::vectors, "vectors", vectors_doc)};
  }
};

/// What the two have in common: the start, and the judgement of a curvature at the end.
template <class T>
class OneReductionCg : public Method<T> {
 public:
  using Params = OneReductionParams;

 protected:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const&) override;
  void complete(Context&) override;
  void classify_stop(Context&, LoopState&) override;
  Iterate<T> iterate() { return {this->x().data, this->best()}; }

  Vector<T> u_, w_, p_, s_;  // M r, A u; the direction, A p
  Array<OneReductionScalars> scalars_;
};

/// Chronopoulos and Gear 1989: A p by a recurrence, all inner products in one pass.
/// Per iteration: one product with A, one with M, 19 vector passes with a diagonal M (cg: 12).
/// Memory: r, d, the kept d, u, w, p, s and 3 FP64 vectors of the driver.
template <class T = double>
class ChronopoulosGearMethod final : public OneReductionCg<T> {
 public:
  explicit ChronopoulosGearMethod(OneReductionParams const& = {}) {}
  MethodFacts facts() const override {
    return {.name = "chronopoulos_gear",
            .cost = {.vectors = 10, .products = 1, .applications = 1, .passes = 14},
            .needs = {.symmetric = true, .definite = true}};
  }

 private:
  void step(Context&) override;
};

/// Pipelined conjugate gradients: Ghysels and Vanroose 2014, Algorithm 4. The products of a step do
/// not wait for its sums, and everything else is one pass. The price is four more recurrences,
/// whose rounding errors grow: an estimate of them (Cools et al. 2018) is kept, and when it exceeds
/// a bound they are computed anew from their definitions, while r and the search direction are
/// kept. On an A of condition 1e6 and more (with M) it may take twice to several times the
/// iterations of cg. Per iteration: one product with A, one with M, 23 vector passes with a
/// diagonal M (cg: 12); four more with A and three more with M a replacement, one each being the
/// step begun in vain. Memory: r, d, the kept d, u, w, p, s, m, n, q, z and 3 FP64 vectors of the
/// driver.
template <class T = double>
class PipelinedCgMethod final : public OneReductionCg<T> {
 public:
  explicit PipelinedCgMethod(OneReductionParams const& = {}) {}
  MethodFacts facts() const override;

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void replace(Context&) override;

  Vector<T> m_, n_, q_, z_;
  Diagonal<T> D_;        // M, where it is diagonal, else the identity
  bool folded_ = false;  // M is diagonal
};

template <class T = double>
using ChronopoulosGear = SolverBy<ChronopoulosGearMethod<T>>;

template <class T = double>
using PipelinedCg = SolverBy<PipelinedCgMethod<T>>;

}  // namespace tcsolve
