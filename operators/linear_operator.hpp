// SPDX-License-Identifier: Apache-2.0
/// y = alpha op(A) x + beta y: all that a solver uses of a matrix. A preconditioner, a composite
/// and a user's own callable are operators like any other.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/precision.hpp>
#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

struct Traits {
  Precision precision;
  bool transpose = false;          ///< op(A) = A^T is offered
  bool fixed = true;               ///< the same linear map on every application
  bool capturable = true;          ///< an application never waits for the host
  bool isolates_nonfinite = true;  ///< an Inf in x reaches only the rows that refer to it
  /// An application is a list of operations, and a recording holds them one by one. What they work
  /// on lives as long as the operator, or comes from the arena, which is then the recording's.
  bool operations = false;
  /// In a stopped loop (core/loop_state.hpp) an application does nothing: steps that were submitted
  /// ahead must leave what the loop goes on with. Else it makes y anew, of the same x.
  bool stops = true;
  /// On a device a smoothing step is the end of the product: do_apply_then().
  bool ends_in_steps = false;
};

/// Of one application to k columns.
struct Cost {
  double flops = 0;
  double bytes = 0;             ///< compulsory: the stored matrix once, x once, y once
  double stored_per_entry = 1;  ///< stored values over nonzeros
};

/// T is the type of both vectors; what the matrix is stored in, traits() says.
template <class T>
class LinearOperator {
  static_assert(!ComplexNumber<T>, TCSOLVE_REAL_NUMBERS_ONLY);

 public:
  LinearOperator(Index rows, Index cols) : rows_(rows), cols_(cols) {}
  virtual ~LinearOperator() = default;
  LinearOperator(LinearOperator const&) = delete;
  LinearOperator& operator=(LinearOperator const&) = delete;

  Index rows() const noexcept { return rows_; }  ///< size of y, the range
  Index cols() const noexcept { return cols_; }  ///< size of x, the domain

  /// y = A x, any number of columns. Throws ShapeError; x and y must not overlap.
  void apply(Context& ctx, In<T> x, Out<T> y) const { apply(ctx, T(1), x, T(0), y); }
  /// y = alpha op(A) x + beta y. beta == 0 means that y is written, never read (it may hold NaN).
  void apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op = Op::none) const;
  /// y = alpha A x, sigma = <x, y>, A square, one column, sigma in the Context's space.
  void apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const;
  void apply_dot(Context& ctx, In<T> x, Out<T> y, double* sigma) const {
    apply_dot(ctx, T(1), x, y, sigma);
  }
  /// y = alpha A x + beta y, and the smoothing step whose r is this y, in one pass where a device's
  /// format has the step at the end of a row, else one after the other. `step` has everything but
  /// its n and r; what it writes is neither x nor y. Any number of columns.
  void apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y, SmoothingStep<T> step) const;
  /// Y = alpha A X, G = X^T Y, A square, in FP64: X and Y are row-major blocks of k columns, at
  /// most 64, and G is (k, k), row-major, in the Context's space. The same bits on every run; those
  /// of G may differ from gram()'s (kernels/blocks.hpp) by rounding. An operator that does not fuse
  /// them makes a product and gram(), which reads X and Y once more. Throws ShapeError, and
  /// Unsupported for other blocks, before Y is written.
  void apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const;
  void apply_gram(Context& ctx, In<T> X, Out<T> Y, double* G) const {
    apply_gram(ctx, T(1), X, Y, G);
  }
  /// r = b - A x. r may be b itself. Throws ShapeError before r is written.
  void residual(Context&, In<T> b, In<T> x, Out<T> r) const;
  /// The residual that decides: r = b - A x with each row summed in twice the precision of FP64 and
  /// rounded once (the bound is in kernels/residual.hpp). One column of adjacent entries. An
  /// operator that does not sum_exactly() makes residual() of it. Where it does, and they are asked
  /// for, also the sizes of the rows, in vectors of the Context's space: |b| + |A| |x| and |A| e.
  /// Cost: about a product.
  struct RowSizes {
    double *size = nullptr, *weight = nullptr;
  };
  void exact_residual(Context& ctx, In<T> b, In<T> x, Out<T> r) const {
    exact_residual(ctx, b, x, r, RowSizes{});
  }
  void exact_residual(Context&, In<T> b, In<T> x, Out<T> r, RowSizes const&) const;
  /// exact_residual() is what its name says: T and the entries are FP64, and the operator knows
  /// them one by one.
  virtual bool sums_exactly() const { return false; }
  /// Part of a residual that is made in several steps, for operators made of operators; with
  /// sums_exactly() only. v.b_low and v.r_low are more of b and r.
  void exact_residual(Context& ctx, ResidualVectors const& v) const { do_exact_residual(ctx, v); }
  /// d_j = 2^e / ||a_j||_2 for column j, 0 for a column of zeros, e the exponent of
  /// norm_estimate(), at most 0: what makes the columns equally long. False where they are not
  /// known.
  virtual bool inverse_column_norms(Context&, Out<double> /*d*/) const { return false; }

  /// New values where the pattern is the same: a has the rows and columns that the operator was
  /// made from, and its entries in the same places; it lies in the Context's space or on the host,
  /// and is not needed afterwards (CsrOperator borrows it, as it does when it is made). Everything
  /// is then as if the operator had been made from a, norm_estimate() too, at the cost of a copy or
  /// two and one number read back. An operator that stores narrower values than T has them rounded
  /// on the host, scaled anew where it was made of a scaled matrix; where it was not, values
  /// outside their range are refused. One that takes its own type, on the device, is faster: see
  /// the concrete operators.
  ///
  /// Solvers keep the norm of A and a power of two that goes by it: call their setup() again before
  /// the next solve. The arrays stay where they are. A preconditioner keeps what it was made of:
  /// make it again, or go on with the old one as the approximation it is now.
  ///
  /// Throws ShapeError where extents or the number of entries differ, Unsupported where the
  /// operator has no matrix to give values to, MatrixError for a value outside the range of a
  /// narrower type; the operator is then as it was. That columns are the same is not looked at:
  /// where they are not the result means nothing, though no memory is touched that is not its own;
  /// require_same_pattern() (matrix/same_pattern.hpp) looks.
  void update_values(Context& ctx, CsrView<T> const& a) {
    Context::Entry const entry(ctx);
    do_update_values(ctx, a);
  }

  /// Does ahead of time what the first application with `op` would do (a transpose, a plan).
  virtual void prepare(Context&, Op) const {}
  /// The entries of a diagonal operator, for passes that fold it in; nothing for any other.
  virtual std::optional<Diagonal<T>> diagonal() const { return std::nullopt; }
  virtual Traits traits() const = 0;
  virtual Cost cost(Index k) const = 0;
  virtual std::string name() const = 0;
  /// What was done to make it, in a sentence, for the report; empty where there is nothing to tell.
  virtual std::string details() const { return {}; }
  /// The size of ||A||, e.g. the infinity norm; NaN when it is not known.
  virtual double norm_estimate() const { return std::numeric_limits<double>::quiet_NaN(); }

  /// The same map on FP32 vectors, where there is one that takes less than a copy of x and y
  /// (operators/cast.hpp), of the values at hand; null elsewhere.
  virtual std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const { return nullptr; }

  /// For operators whose product may change: in the middle of a solve, when a conversion is done
  /// (formats/choose/lazy_operator.hpp), or with new values.
  /// A recording repeats the operations that apply() submitted and does not call the operator, so
  /// the loop reports between two steps how many applications it has made. Returns after how many
  /// more the next report is due; revision() may have changed afterwards.
  virtual double advance(Context&, double /*applications*/) const {
    return std::numeric_limits<double>::infinity();
  }
  /// Another number when what apply() submits is something else than before: recordings of it are
  /// to be made anew. They may still run; what they point to lives as long as the operator.
  virtual std::uint64_t revision() const { return 0; }

 protected:
  /// A product and gram(). Override where both can share a pass.
  virtual void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const;

 private:
  virtual void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const = 0;
  virtual void do_update_values(Context&, CsrView<T> const&) {
    throw Unsupported(cat(name(), ": update_values"));
  }
  /// Override where product and inner product can share a pass.
  virtual void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const;

  virtual void do_exact_residual(Context&, ResidualVectors const&) const {
    throw Unsupported(cat(name(), ": exact_residual"));
  }
  /// One column of adjacent entries, on a device. Override with traits().ends_in_steps.
  virtual void do_apply_then(Context&, T /*alpha*/, In<T> /*x*/, T /*beta*/, Out<T> /*y*/,
                             SmoothingStep<T> const&) const {
    throw Unsupported(cat(name(), ": apply_then"));
  }

  void check_operands(Context&, In<T> x, Out<T> y, Op) const;
  void check_square(char const* wanted) const;
  void check_residual(Context&, In<T> b, In<T> x, Out<T> r) const;

  Index rows_, cols_;
};

template <class T>
using OperatorPtr = std::shared_ptr<LinearOperator<T> const>;

}  // namespace tcsolve
