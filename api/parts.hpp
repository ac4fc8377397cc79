// SPDX-License-Identifier: Apache-2.0
/// The objects that the options of a solver name, made once: they give the facts that memory,
/// orders and formats are planned by.
#pragma once

#include <memory>

#include <tcsolve/api/options.hpp>

namespace tcsolve {

class AutoSolver;

struct SolverParts {
  /// From options that have been read. Throws what the constructors throw: Unsupported for keys
  /// that exclude each other, NotBuilt, ConfigError for a cost table that cannot be read.
  explicit SolverParts(SolverOptions const& options);

  /// A method anew, as if it had set nothing up.
  void renew_method(SolverOptions const& options);

  std::unique_ptr<OperatorFactory const> matrix_operator;
  std::unique_ptr<PreconditionerFactory const> preconditioner;
  std::shared_ptr<Solver> method;
  AutoSolver* chooser = nullptr;  ///< `method`, where solver or preconditioner is auto

  /// The operator is A itself.
  bool exact() const { return matrix_operator->exact() && method->vectors() == Real::f64; }
  /// The CSR matrix in FP64 is needed beside the operator: for the true residual of a rounded one,
  /// or to make a preconditioner of.
  bool needs_csr() const {
    return !exact() || !preconditioner->is_identity() || chooser != nullptr;
  }
};

}  // namespace tcsolve
