// SPDX-License-Identifier: Apache-2.0
/// Restarted GMRES, right preconditioned, on several right-hand sides side by side (Saad 2003,
/// Algorithms 6.9 and 9.5). Any square A.
///
///     every column:  v_0 = r / ||r||                               begin
///     repeat, j = 0 .. m - 1                                       step
///       Z = M V_j,  W = A Z                                        shared
///       every column:  h = V^T w,  w -= V h;  once more
///                      h_{j+1,j} = ||w||,  v_{j+1} = w / h_{j+1,j}
///                      h rotated;  ||r|| <= tolerance ?            judge: it ends, others go on
///     every column:  x = M V y                                     complete
///
/// The columns share the products and nothing else: each has the iterates of gmres. One that has
/// ended has zeros for vectors from then on. After m steps the driver begins anew with the columns
/// that are not solved.
#pragma once

#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/columnwise_method.hpp>
#include <tcsolve/solvers/pseudo_block_gmres/ops.hpp>

namespace tcsolve {

struct PseudoBlockGmresParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  int restart = 30;
  int columns = 16;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = PseudoBlockGmresParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::restart, "restart", between(1, 200), "Krylov vectors kept between restarts"),
        field(&P::columns, "columns", between(1, 16),
              "right-hand sides solved together, at most; more are solved in groups")};
  }
};

/// Per iteration j with w columns: one product with A and one with M of n x w, 4 j + 13 passes over
/// n x w values. Memory: m + 8 blocks of n x w and 6 vectors.
template <class T>
class PseudoBlockGmresMethod final : public ColumnwiseMethod<T> {
 public:
  explicit PseudoBlockGmresMethod(Index restart) : restart_(restart) {}
  MethodFacts facts() const override;

 private:
  double const* do_allocate(Context&) override;
  void begin(Context&) override;
  void step(Context&) override;
  void complete(Context&) override;
  void orthogonalise(Context&, double* C);
  BlockBasis<T> basis(double const* count) const {
    return {V_.data(), restart_, std::int64_t{U_.rows()} * U_.cols(), count};
  }

  Index restart_;
  Array<T> V_;  // (restart, n, w)
  MultiVector<T> U_, W_, Z_;
  Array<double> small_;
  PseudoHessenberg H_{};
};

template <class T = double>
class PseudoBlockGmres final : public BlockSolver<T> {
 public:
  using Params = PseudoBlockGmresParams;
  /// Throws ConfigError where a parameter is outside its range.
  explicit PseudoBlockGmres(PseudoBlockGmresParams const& params = {});
};

}  // namespace tcsolve
