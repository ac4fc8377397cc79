// SPDX-License-Identifier: Apache-2.0
/// The formats a matrix can be stored in, by name: each makes an operator from a CSR matrix.
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/formats/csr.hpp>
#include <tcsolve/formats/reordering.hpp>
#include <tcsolve/io/disk_cache.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// What a solver will do with an operator: what a format is chosen by, where that is left open.
struct OperatorUse {
  double applies = 200;              ///< products expected, over all solves
  bool transpose = false;            ///< A^T as well
  bool persistent = true;            ///< all else in a step may be part of one kernel
  DiskCache const* cache = nullptr;  ///< where measured choices are kept; null: nowhere
};

/// Makes operators of one format, with its parameters fixed.
class OperatorFactory {
 public:
  virtual ~OperatorFactory() = default;
  /// Throws MatrixError when the format or its precision cannot hold the matrix. `a` lies on the
  /// host; an operator in the host's space may borrow it.
  virtual OperatorPtr<double> build(Context&, Csr<double> const& a,
                                    OperatorUse const& use = {}) const = 0;
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
