// SPDX-License-Identifier: Apache-2.0
/// Conjugate gradients on several right-hand sides side by side (Saad 2003, Algorithm 9.1). A and M
/// symmetric positive definite.
///
///     every column:  ||r||^2                             begin
///     repeat                                             step
///       Z = M R                                          shared
///       every column:  rho = <r, z>;  p = z + (rho / rho_prev) p
///       Q = A P                                          shared
///       every column:  a = rho / <p, q>;  x += a p;  r -= a q
///       every column:  ||r|| <= tolerance ?              judge: it ends, the others go on
///
/// The columns share the products with A and M, which read the matrix once for all, and nothing
/// else: each has the iterates of cg and ends by itself, by its tolerance, a breakdown, stagnation
/// or divergence. Between the columns there is nothing to be orthogonalised, so that an iteration
/// is cheaper than one of block_cg, and there are more of them. A column that has ended keeps its
/// place in the block: what it costs is its share of the products.
///
/// X solves A X = R for the R that the driver hands over (solvers/driver/block_solver.hpp).
#pragma once

#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/columnwise_method.hpp>
#include <tcsolve/solvers/pseudo_block_cg/ops.hpp>

namespace tcsolve {

struct PseudoBlockCgParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  int columns = 64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = PseudoBlockCgParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::columns, "columns", between(1, 64),
              "right-hand sides solved together, at most; more are solved in groups")};
  }
};

/// Per iteration with w columns: one product with A and one with M of n x w, 13 passes over n x w
/// values. Memory: 5 blocks of n x w (4 without M), B, X and the residuals of the driver, 6
/// vectors.
template <class T>
class PseudoBlockCgMethod final : public ColumnwiseMethod<T> {
 public:
  MethodFacts facts() const override {
    return {.name = "pseudo_block_cg",
            .cost = {.vectors = 14, .products = 1, .applications = 1, .passes = 13},
            .needs = {.symmetric = true, .definite = true},
            .renews = true};
  }

 private:
  double const* do_allocate(Context&) override;
  void begin(Context&) override;
  void resume(Context&) override;
  double seen_condition(Context&) override;
  void step(Context&) override;
  PseudoCg shared() {
    BlockSystem<T>& s = this->system();
    return {s.R.view(),
            runs_,
            k_.data(),
            s.preconditioned,
            s.roundoff_of_curvature(),
            steps_.size() > 0 ? steps_.data() : nullptr};
  }

  MultiVector<T> P_, Q_, Z_;
  Array<PseudoCgScalars> k_;
  Array<LanczosSteps> steps_;  // none where A and the vectors are FP64
  ColumnRuns runs_{};
};

template <class T = double>
class PseudoBlockCg final : public BlockSolver<T> {
 public:
  using Params = PseudoBlockCgParams;
  /// Throws ConfigError where a parameter is outside its range.
  explicit PseudoBlockCg(PseudoBlockCgParams const& params = {});
};

}  // namespace tcsolve
