// SPDX-License-Identifier: Apache-2.0
/// The formats a matrix can be stored in, by name: each makes an operator from a CSR matrix.
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/formats/choose/ordering.hpp>
#include <tcsolve/io/disk_cache.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// What a solver will do with an operator: what a format is chosen by, where that is left open.
struct OperatorUse {
  double applies = 200;    ///< products expected, over all solves
  Index columns = 1;       ///< of the blocks that are multiplied
  bool transpose = false;  ///< A^T as well
  bool persistent = true;  ///< all else in a step may be part of one kernel
  /// Of the blocks that are multiplied. f32: build() makes an operator on FP32 vectors
  /// (on_floats()) which stores its values in FP32 at the widest.
  Real vectors = Real::f64;
  double besides = 0;       ///< bytes in the Context's space that will be taken when A is stored
  bool keep_order = false;  ///< order() makes none where that is left to it
  DiskCache const* cache = nullptr;  ///< where measured choices are kept; null: nowhere
  /// The matrix as as_given() or order() left it: order() begins with it, operators are made of it,
  /// and a csr operator in FP64 borrows it. Null: it is copied to where it is needed.
  OrderedMatrix const* ready = nullptr;
  Survey const* seen = nullptr;      ///< what is known of the matrix and need not be counted again
  CostTable const* rates = nullptr;  ///< by which products of sparse vectors go; null: as shipped
};

/// Makes operators of one format, with its parameters fixed.
class OperatorFactory {
 public:
  virtual ~OperatorFactory() = default;
  /// Throws MatrixError when the format or its precision cannot hold the matrix. `a` lies on the
  /// host; an operator in the host's space may borrow it. With use.ready, only its extents are
  /// looked at unless needs_host().
  virtual OperatorPtr<double> build(Context&, Csr<double> const& a,
                                    OperatorUse const& use = {}) const = 0;
  /// Bytes that the operator will take for a matrix of these extents.
  virtual double bytes(Index rows, Index cols, Offset entries) const = 0;
  /// True when an operator for FP64 vectors is A itself and not a rounded copy.
  virtual bool exact() const = 0;
  /// True when the operator may be the CSR matrix itself, which then takes no memory besides.
  virtual bool may_borrow() const { return false; }
  /// True when build() needs the matrix on the host whether or not it is ready elsewhere.
  virtual bool needs_host() const { return false; }
  /// The order that the config asks for.
  virtual Reorder reorder() const = 0;
  /// The matrix in the order that it is to have before build(), and its solver its vectors
  /// (solvers/driver/solve_frame.hpp).
  virtual OrderedMatrix order(Context&, Csr<double> const& a,
                              OperatorUse const& use = {}) const = 0;
};

using OperatorRegistry = Registry<OperatorFactory>;
/// `auto` and each of the formats. The list must outlive the registry.
void register_operators(OperatorRegistry&, FormatList const& = formats());

}  // namespace tcsolve
