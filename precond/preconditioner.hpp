// SPDX-License-Identifier: Apache-2.0
/// A preconditioner is a linear operator M that approximates A^-1, built from a CSR matrix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/memory_need.hpp>
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
  /// M for the values that the system has now; `M` is what build() made of a matrix of the same
  /// pattern. A preconditioner that can takes them in place, any other is made anew. Throws as
  /// build(); M is then not to be used.
  virtual OperatorPtr<double> update(Context& ctx, System const& system,
                                     OperatorPtr<double> const& /*M*/) const {
    return build(ctx, system);
  }
  /// Bytes that the preconditioner of a matrix with so many rows and entries will take, a guess for
  /// the time before there is a matrix, with those inside it.
  virtual double bytes(Index rows, Offset /*entries*/) const { return 8.0 * rows; }
  /// False where M may be many times larger than bytes(): the pattern of A decides.
  virtual bool bytes_are_all() const { return true; }
  /// What M will hold once build() has made it, with those inside it: right within 25 % where it is
  /// counted (MemoryNeed::exact), by the pattern, else inferred from a sample of rows. What build()
  /// takes meanwhile is known roughly. Throws as build() where that is seen from the pattern. Cost:
  /// of the symbolic part of build().
  virtual MemoryNeed memory(Context&, System const& system) const {
    return {.host = 0, .space = 8.0 * system.A->rows()};
  }
  /// No fewer bytes than memory() says, the passing ones among them, of any matrix with so many
  /// rows and entries; by default those of a dense M.
  virtual double most_bytes(Index rows, Offset /*entries*/) const {
    return 100.0 * rows * (rows + 64.0);
  }

  /// Seconds that build() takes at the least, where it cannot be ended by a deadline
  /// (Context::setting_up()) and that may be long; 0 otherwise. Throws as memory(). Cost: as
  /// memory().
  virtual double least_seconds(Context&, System const&) const { return 0; }

  /// M = I: a solver needs none.
  virtual bool is_identity() const { return false; }
  /// M is the same linear map in every application.
  virtual bool is_fixed() const { return true; }
  /// M takes A to be symmetric positive definite.
  virtual bool needs_definite() const { return false; }
  /// build() looks at System::matrix.
  virtual bool needs_matrix() const { return true; }
  /// M, or one inside it, is made of blocks of rows that follow each other: another order would
  /// separate the unknowns of a node.
  virtual bool goes_by_blocks() const { return false; }
  /// Whether M, which build() made of a block diagonal matrix, couples a row of one of its blocks
  /// with another block; a preconditioner made of blocks of rows checks these. `starts`:
  /// the first rows of the matrix' blocks, ascending, the number of rows last. Returns the start
  /// that it reaches across, -1 for none.
  virtual Index reaches_across(LinearOperator<double> const& /*M*/,
                               std::vector<Index> const& /*starts*/) const {
    return -1;
  }
};

/// factory.build(), refused before it begins where M would not fit into the memory that there is.
/// Throws MemoryError, which calls M by `name`, and as build(). Cost: that of memory() where
/// most_bytes() would not fit, else none.
OperatorPtr<double> build_within_memory(Context&, PreconditionerFactory const&, System const&,
                                        std::string const& name);

}  // namespace tcsolve
