// SPDX-License-Identifier: Apache-2.0
/// Iterative refinement in up to four precisions (Wilkinson 1963; Higham 2002, chapter 12; with
/// GMRES on factors: Carson and Higham 2018, Algorithm 1.1):
///
///     repeat
///       r = b - A x        in FP64, or rows summed in twice its precision      the driver
///       d ~ A^-1 r         by the inner solver, from d = 0: A in `values`,      step
///                          vectors in `vectors`, factors as M stores them
///       x = x + d          in FP64, where that lowers ||r||                    the driver
///
/// Without an inner solver d = M r. A step contracts ||r|| by about cond(A) times the roundoff of
/// the coarsest of these types, or by the inner tolerance where that is more. One that does not
/// halve ||r|| ends the solve, which then steps up in precision or is told by name.
///
/// Cost of a step: the inner solve and one product with A in FP64. Memory: two vectors, and what
/// the inner solver takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>

namespace tcsolve {

/// How r = b - A x is summed.
enum class RefinedResidual { fp64, twofold };
constexpr auto names(RefinedResidual) {
  return std::array{std::pair{RefinedResidual::fp64, "fp64"},
                    std::pair{RefinedResidual::twofold, "twofold"}};
}

/// The three precisions of a step beside that of M.
struct RefinementTypes {
  std::optional<Real> values = {};
  std::optional<VectorType> vectors = {};  ///< as the inner solver says, else FP64
  RefinedResidual residual = RefinedResidual::fp64;
  static constexpr auto schema() {
    using P = RefinementTypes;
    return std::tuple{
        field(&P::values, "values",
              "type that A is stored in for the inner products, in the place of operator.values"),
        field(&P::vectors, "vectors",
              "type of the inner solver's vectors, fp64 where nothing is said"),
        field(&P::residual, "residual",
              "how b - A x is summed between the steps: fp64, or twofold, in twice its precision")};
  }
};

struct RefinementParams {
  StoppingParams stopping;
  RefinementTypes types;
  Block solver{};
  std::string check() const;
  static constexpr auto schema() {
    using P = RefinementParams;
    return std::tuple{include(&P::stopping), include(&P::types),
                      field(&P::solver, "solver", block_of("solver"),
                            "the inner solver: one to max_iters iterations, until its own residual "
                            "meets rtol; none: the correction is M r")};
  }
};

struct GmresIrParams {
  StoppingParams stopping;
  RefinementTypes types;
  int inner_iters = 30;
  double inner_rtol = 1e-4;
  std::string check() const;
  static constexpr auto schema() {
    using P = GmresIrParams;
    return std::tuple{include(&P::stopping), include(&P::types),
                      field(&P::inner_iters, "inner_iters", between(1, 1000),
                            "iterations of GMRES in a step, at the most"),
                      field(&P::inner_rtol, "inner_rtol", between(0.0, 1.0),
                            "residual at which GMRES ends a step, relative to that at its begin")};
  }
};

class RefinementMethod final : public Method<double> {
 public:
  using MakeInner = std::function<std::unique_ptr<Solver>()>;
  /// inner: null for d = M r. factors: M must be there, no wider than the vectors.
  RefinementMethod(char const* name, RefinementTypes const& types, MakeInner inner, bool factors);
  MethodFacts facts() const override;

 private:
  auto do_allocate(Context&) -> Workspace override;
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void conclude(Context&, LoopState&) override;
  void classify_stop(Context&, LoopState&) override;
  void check_factors() const;

  char const* name_;
  RefinementTypes types_;
  MakeInner make_inner_;
  bool factors_;
  OperatorPtr<double> inner_;  // r to d
  Array<double> norm2_;        // ||r||^2
};

std::unique_ptr<Solver> make_refinement(RefinementParams const&);
/// `gmres` is made anew for each set-up.
std::unique_ptr<Solver> make_gmres_ir(GmresIrParams const&, RefinementMethod::MakeInner gmres);

}  // namespace tcsolve
