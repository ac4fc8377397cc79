// SPDX-License-Identifier: Apache-2.0
/// A matrix that is stored scaled by powers of two, as it was before:
///
///     A = 2^-shift R^-1 B C^-1        R = diag(2^r_i), C = diag(2^c_j)
///
/// B is what is stored and what a method multiplies by: A d = r is B d' = R r with d = 2^shift C
/// d', and with C^-1 M R^-1 for M the Krylov spaces are those of A and M
/// (solvers/driver/equilibration.hpp). Whoever knows nothing of it multiplies by A.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// r_i or c_j in the Context's space; null where all are 0.
using Exponents = std::shared_ptr<Array<std::int32_t> const>;

/// y = alpha 2^(sign e_i) x_i + beta y_i, rounded once; x may be y. x itself with null exponents.
template <class T>
void times_powers(Context&, double alpha, Exponents const& e, int sign, In<T> x, double beta,
                  Out<T> y);

/// y = alpha op(A) x + beta y as above; op(A) as B offers it.
///
///   cost    that of B; with R or C a pass over y or x more, and a copy of it. A diagonal B is
///           multiplied by its powers of two once
///   throws  ShapeError where the exponents do not suit B
template <class T>
class Rescaled : public LinearOperator<T> {
 public:
  /// `norm` is ||A||, NaN where it is not known.
  Rescaled(Context&, OperatorPtr<T> B, int shift, Exponents rows, Exponents columns,
           double norm = std::numeric_limits<double>::quiet_NaN());

  OperatorPtr<T> const& scaled() const { return B_; }  ///< B
  int shift() const { return shift_; }
  Exponents const& row_exponents() const { return rows_; }
  Exponents const& column_exponents() const { return columns_; }
  /// R = C: B is symmetric where A is.
  bool congruent() const { return rows_ == columns_; }

  void prepare(Context& ctx, Op op) const override { B_->prepare(ctx, op); }
  Traits traits() const override { return B_->traits(); }
  Cost cost(Index k) const override;
  std::string name() const override { return B_->name(); }
  std::string details() const override { return B_->details(); }
  std::optional<Diagonal<T>> diagonal() const override;
  double norm_estimate() const override { return norm_; }
  double advance(Context& ctx, double n) const override { return B_->advance(ctx, n); }
  std::uint64_t revision() const override { return B_->revision() + revision_; }

  /// New values in FP64, for vectors of any type (LinearOperator::update_values).
  virtual void update_from(Context&, CsrView<double> const&) {
    throw Unsupported(cat(name(), ": update_values"));
  }
  /// What rounding has done to the entries of A, where they have been rounded.
  virtual std::optional<NarrowFigures> figures() const { return std::nullopt; }

 protected:
  /// Other powers of two; `norm` is that of A. Recordings of the operator are to be made anew.
  void rescale(Context&, int shift, Exponents rows, Exponents columns, double norm);

 private:
  bool plain() const { return !rows_ && !columns_; }
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const override;

  OperatorPtr<T> B_;
  int shift_ = 0;
  Exponents rows_, columns_;
  Array<T> diagonal_;  // of A, where B is diagonal
  double norm_ = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t revision_ = 0;
};

/// What rounding has done to the entries that A multiplies by, on vectors of any type; nothing
/// where they were not rounded or not by this set-up.
std::optional<NarrowFigures> rounding_of(Context&, LinearOperator<double> const& A);

}  // namespace tcsolve
