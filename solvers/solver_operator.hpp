// SPDX-License-Identifier: Apache-2.0
/// A solver as a preconditioner (solvers/driver/solver_as_operator.hpp), made of a config.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/over_ranks.hpp>
#include <tcsolve/solvers/driver/solver_as_operator.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

struct SolverOperatorParams {
  Block solver;
  std::optional<VectorType> vectors = {};  ///< as the inner solver says
  std::optional<Real> values = {};         ///< as A is stored already, or FP32 for FP32 vectors
  Block preconditioner{"jacobi"};
  std::string check() const;
  static constexpr auto schema() {
    using P = SolverOperatorParams;
    return std::tuple{
        field(&P::solver, "solver", block_of("solver"),
              "the inner solver: one to max_iters iterations, until its own residual meets rtol")
            .required(),
        field(&P::vectors, "vectors",
              "type of the inner solver's vectors, in the place of its own key"),
        field(&P::values, "values",
              "type of a copy of A for the inner solver, stored as the cost model chooses; not "
              "given: A as it is stored already, or, for FP32 vectors, a copy in fp32"),
        field(&P::preconditioner, "preconditioner", block_of("preconditioner"),
              "preconditioner of the inner solver")};
  }
};

class SolverOperatorFactory final : public PreconditionerFactory, public OverRanks {
 public:
  using Params = SolverOperatorParams;
  explicit SolverOperatorFactory(Params const& params) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  /// Of the inner method and its preconditioner.
  double bytes(Index rows, Offset entries) const override;
  MemoryNeed memory(Context&, System const&) const override;
  double most_bytes(Index rows, Offset entries) const override;
  double least_seconds(Context& ctx, System const& system) const override {
    return inner()->least_seconds(ctx, system);
  }
  bool is_fixed() const override { return false; }
  bool needs_definite() const override;
  bool needs_matrix() const override { return inner()->needs_matrix() || copies(); }
  bool goes_by_blocks() const override { return inner()->goes_by_blocks(); }
  bool over_ranks() const override { return tcsolve::over_ranks(*inner()) && !copies(); }
  bool bytes_are_all() const override { return inner()->bytes_are_all(); }

 private:
  std::unique_ptr<PreconditionerFactory> inner() const;
  /// The inner solver multiplies by a copy of A of its own.
  bool copies() const { return copy_values().has_value(); }
  std::optional<Real> copy_values() const;
  double own_bytes(Index rows, double entries) const;
  Params params_;
};

}  // namespace tcsolve
