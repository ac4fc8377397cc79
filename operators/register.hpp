// SPDX-License-Identifier: Apache-2.0
/// The formats a matrix can be stored in, by name: each makes an operator from a CSR matrix.
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/formats/csr.hpp>
#include <tcsolve/formats/reordering.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Makes operators of one format, with its parameters fixed.
class OperatorFactory {
 public:
  virtual ~OperatorFactory() = default;
  /// Throws MatrixError when the format or its precision cannot hold the matrix. `a` lies on the
  /// host; an operator in the host's space may borrow it.
  virtual OperatorPtr<double> build(Context&, Csr<double> const& a) const = 0;
  /// Bytes that the operator will take for a matrix of these extents.
  virtual double bytes(Index rows, Index cols, Offset entries) const = 0;
  /// True when the operator is A itself and not a rounded copy.
  virtual bool exact() const = 0;
  /// The order that the matrix is to be given before build(), and its solver the caller's vectors
  /// in (solvers/reordered_solver.hpp).
  virtual Reorder reorder() const = 0;
};

using OperatorRegistry = Registry<OperatorFactory>;
void register_operators(OperatorRegistry&);

}  // namespace tcsolve
