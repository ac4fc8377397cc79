// SPDX-License-Identifier: Apache-2.0
/// The factories and the method that a solver's options name, made once. The choice of order, format
/// and memory is based on their properties.
#pragma once

#include <memory>

#include <tcsolve/api/options.hpp>

namespace tcsolve {

struct SolverParts {
  /// From options that have been read. Throws what the constructors throw: Unsupported for keys
  /// that exclude each other, NotBuilt, ConfigError for a cost table that cannot be read.
  explicit SolverParts(SolverOptions const& options);

  std::unique_ptr<OperatorFactory const> matrix_operator;
  std::unique_ptr<PreconditionerFactory const> preconditioner;
  std::shared_ptr<Solver> method;

  /// The CSR matrix in FP64 is needed beside the operator: for the true residual of a rounded one,
  /// or to make a preconditioner of.
  bool needs_csr() const { return !matrix_operator->exact() || !preconditioner->is_identity(); }
};

}  // namespace tcsolve
