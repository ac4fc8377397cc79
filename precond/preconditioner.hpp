// SPDX-License-Identifier: Apache-2.0
/// A preconditioner is a linear operator M that approximates A^-1, built from a CSR matrix.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

/// A preconditioner that the deadline of a set-up does not admit, which is seen before it is begun.
/// Another one may take less time.
struct TakesTooLong : OutOfTime {
  TakesTooLong(std::string text, double seconds) : text_(std::move(text)), seconds_(seconds) {}
  char const* what() const noexcept override { return text_.c_str(); }
  /// That the set-up takes at the least.
  double seconds() const { return seconds_; }

 private:
  std::string text_;
  double seconds_;
};

/// Of a PreconditionerFactory and its copies, and of no other in a process.
using FactoryId = std::uint64_t;
FactoryId new_factory_id();

/// What memory() and least_seconds() found out about a matrix on their way to an answer, for the
/// build() of the same matrix that follows: orders, patterns, parts are made once. Each factory
/// keeps one thing, and takes it out again.
class SetupNotes {
 public:
  template <class T>
  std::shared_ptr<T> keep(FactoryId factory, T found) {
    auto kept = std::make_shared<T>(std::move(found));
    kept_[factory] = kept;
    return kept;
  }
  /// Null where nothing of that type was kept.
  template <class T>
  std::shared_ptr<T> look(FactoryId factory) const {
    auto const at = kept_.find(factory);
    auto const* const found =
        at == kept_.end() ? nullptr : std::any_cast<std::shared_ptr<T>>(&at->second);
    return found != nullptr ? *found : nullptr;
  }
  template <class T>
  std::shared_ptr<T> take(FactoryId factory) {
    auto found = look<T>(factory);
    if (found) kept_.erase(factory);
    return found;
  }

 private:
  std::map<FactoryId, std::any> kept_;
};

/// What a preconditioner is made from: the matrix in a Context's space, the operator that applies
/// it, and the number of rows. A matrix-free operator has no `matrix`. `notes` may be null.
struct System {
  CsrView<double> matrix;
  OperatorPtr<double> A;
  std::shared_ptr<SetupNotes> notes = nullptr;
};

/// Makes preconditioners of one kind, with its parameters fixed.
class PreconditionerFactory {
 public:
  virtual ~PreconditionerFactory() = default;
  FactoryId id() const { return id_; }
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

  /// Seconds that build() takes at the least, from the work that the pattern asks for; 0 where that
  /// is little, or not known before it is done. What a deadline (Context::setting_up()) does not
  /// admit is not begun (build_within_memory()). Throws as memory(). Cost: at most as memory().
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
  /// Whether M, made of a block diagonal matrix, may serve its blocks as systems of a batch, each
  /// by itself: its application is a list of operations by rows.
  virtual bool batches() const { return is_identity(); }
  /// Whether M, which build() made of a block diagonal matrix, couples a row of one of its blocks
  /// with another block; a preconditioner made of blocks of rows checks these. `starts`:
  /// the first rows of the matrix' blocks, ascending, the number of rows last. Returns the start
  /// that it reaches across, -1 for none.
  virtual Index reaches_across(LinearOperator<double> const& /*M*/,
                               std::vector<Index> const& /*starts*/) const {
    return -1;
  }

 private:
  FactoryId id_ = new_factory_id();
};

/// factory.build(), refused before it begins where M would not fit into the memory that there is,
/// or could not be made by the deadline of a set-up. Throws MemoryError, TakesTooLong, which call M
/// by `name`, and as build(). Cost: that of memory() where most_bytes() would not fit, of
/// least_seconds() where there is a deadline, and what these found out is used; else none.
OperatorPtr<double> build_within_memory(Context&, PreconditionerFactory const&, System const&,
                                        std::string const& name);

}  // namespace tcsolve
