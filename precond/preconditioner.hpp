// SPDX-License-Identifier: Apache-2.0
/// A preconditioner is a linear operator M that approximates A^-1, built from a CSR matrix.
#pragma once

#include <memory>

#include <tcsolve/core/error.hpp>
#include <tcsolve/kernels/views/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// A preconditioner that cannot be made of this matrix; the program reports `setup_failed`.
struct SetupError : Error {
  using Error::Error;
};

/// What a preconditioner is made from: the matrix in a Context's space, the operator that applies
/// it, and the number of rows. A matrix-free operator has no `matrix`.
struct System {
  CsrView<double> matrix;
  OperatorPtr<double> A;
};

/// Makes preconditioners of one kind, with its parameters fixed.
class PreconditionerFactory {
 public:
  virtual ~PreconditionerFactory() = default;
  /// Throws SetupError when the matrix does not admit it, ShapeError when it is not square.
  virtual OperatorPtr<double> build(Context&, System const&) const = 0;
  /// Bytes that the preconditioner will take, about.
  virtual double bytes(Index rows) const { return 8.0 * rows; }
};

}  // namespace tcsolve
