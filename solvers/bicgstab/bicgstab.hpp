// SPDX-License-Identifier: Apache-2.0
/// BiCGStab with right preconditioning: van der Vorst 1992; Saad 2003, Algorithm 7.7. Any square A.
#pragma once

#include <tcsolve/solvers/bicgstab/ops.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

struct BicgstabParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  VectorType vectors = VectorType::fp64;
  std::string check() const { return stopping.check(); }
  static constexpr auto schema() {
    using P = BicgstabParams;
    return std::tuple{include(&P::stopping), field(&P::execution, "execution", execution_doc),
                      field(&P::vectors, "vectors", vectors_doc)};
  }
};

/// Per iteration: two products with A, two with M. A breakdown (rho, sigma or omega vanishes beside
/// the vectors it comes from) begins again from the true residual with a new shadow vector.
template <class T = double>
class BicgstabMethod final : public Method<T> {
 public:
  using Params = BicgstabParams;
  explicit BicgstabMethod(BicgstabParams const& = {}) {}
  MethodFacts facts() const override {
    return {.name = "bicgstab",
            .cost = {.vectors = 12, .products = 2, .applications = 2, .passes = 20},
            .batches = true,
            .renews = true};
  }

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void begin(Context&, Attempt const& attempt) override;
  void step(Context&) override;
  void replace(Context&) override;

  Vector<T> shadow_, p_, y_, v_, z_, t_;
  Diagonal<T> D_;        // M, where it is diagonal, else the identity
  bool folded_ = false;  // M is diagonal
  Array<BicgstabScalars> k_;
};

template <class T = double>
using Bicgstab = SolverBy<BicgstabMethod<T>>;

}  // namespace tcsolve
