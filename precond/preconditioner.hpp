// SPDX-License-Identifier: Apache-2.0
/// A preconditioner is a linear operator M that approximates A^-1, built from a CSR matrix; its
/// owner renews it, its factory holds the parameters.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/memory_need.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/precond/system.hpp>

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

/// M and what renews it. Its owner gives it new values; those who apply it hold a const operator.
///
///     std::unique_ptr<Preconditioner> M = factory.build(ctx, system);
///     solver.setup(ctx, A, M->view());
///     M->update(ctx, system_of_new_values);       // numbers, in place where that can be
///     solver.setup(ctx, A, M->view());            // asked again: it may be another operator
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// M as build() or the last update() made it. It lives as long as somebody holds it.
  virtual OperatorPtr<double> view() const = 0;
  /// M of new values on the pattern that it was made of: in place, so that recordings of view()
  /// stay valid, or else view() is another operator afterwards. What is inside M is updated too.
  /// Throws as build(); M is then not to be used.
  virtual void update(Context&, System const& system) = 0;
  /// Whether M, made of a block diagonal matrix, couples a row of one of its blocks with another
  /// block; a preconditioner made of blocks of rows checks these. `starts`: the first rows of the
  /// matrix' blocks, ascending, the number of rows last. Returns the start that it reaches across,
  /// -1 for none.
  virtual Index reaches_across(std::vector<Index> const& /*starts*/) const { return -1; }
  /// M anew, in wider types than it is in, or with bounds where it goes by estimates, and tells the
  /// log: what a solve ended in may be the rounding of a narrow M, or an estimate that was too low.
  /// view() is another operator then. False where there is nothing safer, and nothing is done.
  /// Throws as update().
  virtual bool widen(Context&, System const&) { return false; }
};

/// The owner of an operator that takes new values by Op::update(Context&, CsrView<double>).
template <class Op>
class Owned final : public Preconditioner {
 public:
  explicit Owned(std::shared_ptr<Op> M) : M_(std::move(M)) {}
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override { M_->update(ctx, system.matrix); }

 private:
  std::shared_ptr<Op> M_;
};

/// The owner of an operator that `make` makes anew for new values.
class Remade final : public Preconditioner {
 public:
  using Make = std::function<OperatorPtr<double>(Context&, System const&)>;
  Remade(Context& ctx, System const& system, Make make)
      : make_(std::move(make)), M_(make_(ctx, system)) {}
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override { M_ = make_(ctx, system); }

 private:
  Make make_;
  OperatorPtr<double> M_;
};

/// Makes preconditioners of one kind, with its parameters fixed.
class PreconditionerFactory {
 public:
  virtual ~PreconditionerFactory() = default;
  FactoryId id() const { return id_; }
  /// M of a matrix, with its own copy of the parameters: the factory may go before it. Throws
  /// SetupError when the matrix does not admit it, ShapeError when it is not square.
  virtual std::unique_ptr<Preconditioner> build(Context&, System const&) const = 0;
  /// M of a system of a few rows on the host, with the operations that M of a large one has on a
  /// device: of these runs_as_one_kernel() makes a recording. As build(), unless types or levels
  /// would be others.
  virtual std::unique_ptr<Preconditioner> build_in_miniature(Context& ctx,
                                                             System const& few) const {
    return build(ctx, few);
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
  /// The key that tells of A's rows one by one, in the caller's order; null: none does.
  virtual char const* by_row() const { return nullptr; }
  /// Whether M, made of a block diagonal matrix, may serve its blocks as systems of a batch, each
  /// by itself: its application is a list of operations by rows.
  virtual bool batches() const { return is_identity(); }

 private:
  FactoryId id_ = new_factory_id();
};

/// factory.build(), refused before it begins where M would not fit into the memory that there is,
/// or could not be made by the deadline of a set-up. Throws MemoryError, TakesTooLong, which call M
/// by `name`, and as build(). Cost: that of memory() where most_bytes() would not fit, of
/// least_seconds() where there is a deadline, and what these found out is used; else none.
std::unique_ptr<Preconditioner> build_within_memory(Context&, PreconditionerFactory const&,
                                                    System const&, std::string const& name);

}  // namespace tcsolve
