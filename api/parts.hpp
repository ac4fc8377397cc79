// SPDX-License-Identifier: Apache-2.0
/// The objects that the options of a solver name, made once: they give the facts that memory,
/// orders and formats are planned by.
#pragma once

#include <algorithm>
#include <memory>

#include <tcsolve/api/precision.hpp>

namespace tcsolve {

struct SolverParts {
  /// From options that have been read. Throws what the constructors throw: Unsupported for keys
  /// that exclude each other, NotBuilt, ConfigError for a cost table that cannot be read.
  explicit SolverParts(SolverOptions const& options)
      : method(make<SolverRegistry>(options.solver)),
        values(values_of(operator_of(options, *method))),
        matrix_operator(make<OperatorRegistry>(operator_of(options, *method))),
        preconditioner(make<PreconditionerRegistry>(options.preconditioner)),
        chooses_method(options.solver.type() == "auto"),
        chooses_preconditioner(options.preconditioner.type() == "auto") {}

  /// Its keys and limits are those of a solve. It is never set up: a recipe's is (RecipeRun).
  std::unique_ptr<Solver const> method;
  Real values;  ///< that the config asks A to be stored in
  std::unique_ptr<OperatorFactory const> matrix_operator;
  std::unique_ptr<PreconditionerFactory const> preconditioner;
  bool chooses_method, chooses_preconditioner;  ///< `auto`

  bool chooses() const { return chooses_method || chooses_preconditioner; }
  /// Columns that are solved together, at the most: recipes in turn take one at a time.
  Index columns_at_once() const { return chooses() ? 1 : method->columns_at_once(); }
  /// The operator is A itself.
  bool exact() const { return matrix_operator->exact() && method->vectors() == Real::f64; }
  /// The CSR matrix in FP64 is needed beside the operator: for the true residual of a rounded one,
  /// or to make a preconditioner of.
  bool needs_csr() const { return !exact() || !preconditioner->is_identity() || chooses(); }

  /// Bytes in the Context's space of M and of all vectors that a solve takes, of `columns` at once.
  double solving_bytes(Context const& ctx, Index rows, Index cols, Offset entries,
                       double columns) const {
    return columns * 8.0 * std::max(rows, cols) * vectors_of_method() +
           preconditioner->bytes(rows, entries) + late_bytes(ctx, rows, cols, columns);
  }
  /// Of these what a solve takes as it begins.
  double late_bytes(Context const& ctx, Index rows, Index cols, double columns) const {
    double const vector = 8.0 * std::max(rows, cols);
    // `auto` makes an order only where there is room.
    Reorder const order = matrix_operator->reorder();
    bool const reorders = order != Reorder::none && order != Reorder::automatic;
    // P b, P x, a staged copy and P itself, or b and x of the host
    // (solvers/driver/solve_frame.hpp).
    double const framed = reorders ? 4 : ctx.space() == Space::host ? 0 : 2;
    // By which an x is judged: JudgedSystem::reserve().
    double const judging = ctx.communicator().extends_sums() ? 3 : 2;
    return vector * (columns * framed + judging);
  }
  /// Vectors of the method, in FP64 ones: of FP32 vectors two residuals and x + d are FP64 all the
  /// same (solvers/driver/krylov_solver.hpp).
  double vectors_of_method() const {
    constexpr double wide = 3;
    double const count = method->cost().vectors;
    return method->vectors() == Real::f64 || count < wide ? count : wide + (count - wide) / 2;
  }
};

}  // namespace tcsolve
