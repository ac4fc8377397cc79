// SPDX-License-Identifier: Apache-2.0
/// BiCGStab with right preconditioning on several right-hand sides side by side: van der Vorst
/// 1992; Saad 2003, Algorithm 7.7. Any square A.
///
///     every column:  r~ = r,  rho = <r~, r>                        begin
///     repeat                                                       step
///       every column:  p = r + beta (p - omega v)
///       Y = M P,  V = A Y                                          shared
///       every column:  alpha = rho / <r~, v>;  s = r - alpha v
///       Z = M S,  T = A Z                                          shared
///       every column:  omega = <t, s> / <t, t>
///                      x += alpha y + omega z;  r = s - omega t
///       every column:  ||r|| <= tolerance ?                        judge: it ends, others go on
///
/// The columns share the products and nothing else. Where rho, sigma or omega of a column vanishes
/// beside the vectors it comes from, the column ends, and goes on in the next run of the block from
/// its true residual with a new shadow vector r~.
#pragma once

#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/columnwise_method.hpp>
#include <tcsolve/solvers/pseudo_block_bicgstab/ops.hpp>

namespace tcsolve {

struct PseudoBlockBicgstabParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  int columns = 64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = PseudoBlockBicgstabParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::columns, "columns", between(1, 64),
              "right-hand sides solved together, at most; more are solved in groups")};
  }
};

/// Per iteration with w columns: two products with A and two with M of n x w, 19 passes over n x w
/// values. Memory: 8 blocks of n x w (6 without M), B, X and the residuals of the driver, 6
/// vectors.
template <class T>
class PseudoBlockBicgstabMethod final : public ColumnwiseMethod<T> {
 public:
  MethodFacts facts() const override {
    return {.name = "pseudo_block_bicgstab",
            .cost = {.vectors = 17, .products = 2, .applications = 2, .passes = 19},
            .renews = true};
  }

 private:
  double const* do_allocate(Context&) override;
  void begin(Context&) override;
  void resume(Context&) override;
  void step(Context&) override;
  PseudoBicgShadow<T> shadow(Context&);

  MultiVector<T> shadow_, P_, Y_, V_, Z_, T_;
  Array<PseudoBicgScalars> k_;
  ColumnRuns runs_{};
};

template <class T = double>
class PseudoBlockBicgstab final : public BlockSolver<T> {
 public:
  using Params = PseudoBlockBicgstabParams;
  /// Throws ConfigError where a parameter is outside its range.
  explicit PseudoBlockBicgstab(PseudoBlockBicgstabParams const& params = {});
};

}  // namespace tcsolve
