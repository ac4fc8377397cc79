// SPDX-License-Identifier: Apache-2.0
/// Restarted block GMRES, right preconditioned, for A X = B with several columns; any square A
/// (Vital 1990; Saad 2003, section 6.12; deflation as in Calandra, Gratton, Langou, Pinel and
/// Vasseur 2012).
///
///     R = V_0 S                                          begin: an orthonormal basis of R
///     repeat, j = 0 .. m - 1                             step
///       W = A M V_j
///       C = V^T W,  W -= V C;  once more                 V = [V_0 .. V_j]
///       W = V_{j+1} H_{j+1,j}                            an orthonormal basis of what is left
///       Y minimises the columns of ||S e_0 - H Y||       rotated, not formed
///       every ||r_j|| <= tolerance_j ?                   observe: the stopping test
///     X = M V Y                                          complete
///
/// Every column of X minimises its residual over the directions of all columns. What depends on
/// others is left out of V_0 and of each V_{j+1} (kernels/blocks.hpp), so blocks become narrower as
/// combinations of columns converge; H stays of full rank. After m steps, or when all columns are
/// there, the driver looks at the true residuals, leaves out the columns that are solved and begins
/// anew with the others (deflated restarting).
///
/// The basis is orthonormal to rounding: classical Gram-Schmidt twice between blocks, and within a
/// block CholeskyQR with the Householder fall-back.
#pragma once

#include <tcsolve/solvers/block_gmres/ops.hpp>
#include <tcsolve/solvers/driver/block_solver.hpp>

namespace tcsolve {

struct BlockGmresParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  int restart = 20;
  int columns = 16;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = BlockGmresParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::restart, "restart", between(1, 200), "blocks of Krylov vectors between restarts"),
        field(&P::columns, "columns", between(1, 16),
              "right-hand sides solved together, at most; more are solved in groups")};
  }
};

/// Per iteration j with w columns: one product with A and one with M of n x w, 4 j + 17 passes over
/// n x w values. Memory: m + 9 blocks of n x w, 6 vectors, and (m w)^2 values.
class BlockGmresMethod final : public BlockMethod<double> {
 public:
  explicit BlockGmresMethod(Index restart) : restart_(restart) {}
  MethodFacts facts() const override;

 private:
  double const* do_allocate(Context&) override;
  void begin(Context&) override;
  void step(Context&) override;
  void complete(Context&) override;
  BlockBasis<double> basis() const {
    return {V_.data(), restart_, std::int64_t{U_.rows()} * U_.cols(), H_.count};
  }

  Index restart_;
  Array<double> V_;  // (restart, n, w)
  MultiVector<double> U_, W_, Z_;
  Array<double> small_;
  BlockHessenberg H_{};
};

class BlockGmres final : public BlockSolver<double> {
 public:
  using Params = BlockGmresParams;
  /// Throws ConfigError where a parameter is outside its range.
  explicit BlockGmres(BlockGmresParams const& params = {});
};

}  // namespace tcsolve
