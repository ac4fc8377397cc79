// SPDX-License-Identifier: Apache-2.0
/// Block conjugate gradients for A X = B with several columns, in the form that never breaks down
/// (Ji and Li 2017, BFBCG). A and M symmetric positive definite.
///
///     Z = M R,  P = orth(Z)                              begin
///     repeat                                             step
///       Q = A P
///       alpha = (P^T Q)^-1 P^T R
///       X += P alpha;  R -= Q alpha
///       Z = M R
///       beta = -(P^T Q)^-1 Q^T Z
///       P = orth(Z + P beta)
///       every ||r_j|| <= tolerance_j ?                   observe: the stopping test
///
/// orth() leaves out what depends on other columns (kernels/blocks.hpp), so P has at most as many
/// columns as R, full rank and length 1, and P^T A P is as well conditioned as A. Columns of R that
/// are equal, zero or dependent only make P narrower: every column of X minimises its error in the
/// A-norm over P, whatever the others are. One iteration searches in the directions of all columns,
/// so that k columns take fewer iterations than one, and the product goes once through A for all.
///
/// X solves A X = R for the R that the driver hands over (solvers/driver/block_solver.hpp): it has
/// scaled each column to length 1, leaves out those that are solved and judges each by its true
/// residual.
///
/// A single right-hand side may be cut into parts, stretches of rows (`enlarge`; enlarged CG:
/// Grigori, Moufawad and Nataf 2016): R has the parts of r as its columns, x is the sum of X's, and
/// the norm of the sum of R's is monitored. The search space holds that of cg and is larger.
///
/// Paper: H. Ji and Y. Li, A breakdown-free block conjugate gradient method, BIT 57 (2017).
/// There P is made orthonormal by a rank-revealing QR; here by two rounds of pivoted CholeskyQR
/// and, where they do not suffice, Householder QR.
#pragma once

#include <tcsolve/solvers/block_cg/ops.hpp>
#include <tcsolve/solvers/driver/block_solver.hpp>

namespace tcsolve {

struct BlockCgParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  int columns = 64;
  int enlarge = 1;
  bool compare = false;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = BlockCgParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::columns, "columns", between(1, 64),
              "right-hand sides solved together, at most; more are solved in groups"),
        field(&P::enlarge, "enlarge", between(1, 64),
              "parts that a single right-hand side is cut into; 1: none"),
        field(&P::compare, "compare",
              "with enlarge: the first solve lets cg try as well, with as many bytes, and reports "
              "whether the parts paid")};
  }
};

/// Per iteration with k columns: one product with A and one with M of n x k, 18 passes over n x k
/// values, 21 where columns are dependent, one fewer where A makes P^T Q in the pass of the
/// product. Memory: 9 blocks of n x k and 6 vectors.
class BlockCgMethod final : public BlockMethod<double> {
 public:
  MethodFacts facts() const override {
    return {.name = "block_cg",
            .cost = {.vectors = 15, .products = 1, .applications = 1, .passes = 17},
            .needs = {.symmetric = true, .definite = true}};
  }

 private:
  double const* do_allocate(Context&) override;
  void begin(Context&) override;
  void step(Context&) override;
  void classify_stop(Context&, LoopState&) override;
  In<double> precondition(Context&, bool first);

  MultiVector<double> P_, Q_, W_;
  Array<double> small_;
  BlockCgScalars k_{};
};

class BlockCg final : public BlockSolver<double> {
 public:
  using Params = BlockCgParams;
  /// Throws ConfigError where a parameter is outside its range.
  explicit BlockCg(BlockCgParams const& params = {});
};

}  // namespace tcsolve
