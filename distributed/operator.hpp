// SPDX-License-Identifier: Apache-2.0
/// The product with a matrix of which each rank has some rows: x and y are the rank's own entries.
///
///     y = own x + outer h          h: x of the halo, which comes while the first product is made
///
/// The shape of Ginkgo's and AMGCL's distributed matrices, and of PETSc's MPIAIJ.
#pragma once

#include <memory>

#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/distributed/halo.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// The rows that have entries in other ranks' columns, those entries, and the halo. Several
/// operators of one matrix share it.
class OuterPart {
 public:
  /// Every rank makes it, at the same time. Cost: an upload, beside that of the halo.
  OuterPart(Context&, std::shared_ptr<DistributedMatrix const>);
  /// The matrix has new values. Cost: an upload of those outside.
  void update_values(Context&);

  DistributedMatrix const& matrix() const { return *matrix_; }

  Halo& halo() { return halo_; }
  OuterRows const& rows() const { return outer_; }
  /// Each ends what halo().begin() has begun, with the h that comes. y += alpha outer h.
  template <class T>
  void add(Context&, double alpha, Out<T> y);
  /// The same, and *sigma = <x, y> of all ranks; *own is that of y before.
  void add_dot(Context&, double alpha, In<double> x, Out<double> y, double const* own,
               double* sigma);
  /// r of v.b, which is what the own columns have left.
  void residual(Context&, ResidualVectors const& v);
  /// h = outer^T x, which is to be sent back.
  template <class T>
  void transposed(Context&, In<T> x, double* h) const;

 private:
  std::shared_ptr<DistributedMatrix const> matrix_;
  Halo halo_;
  Array<std::byte> lists_;               // in the Context's space
  Array<double> parts_;                  // of the outer rows, or none
  OuterRows outer_;                      // of the rank, with others' columns
  CsrView<double> transposed_;           // their entries, the halo's columns as rows
  double* values_ = nullptr;             // of both, one after the other
  std::vector<Offset> transposed_from_;  // entry of outer_ that is entry k of transposed_
};

/// y = alpha op(A) x + beta y, by all ranks together, on vectors of T.
///
///   own    the rank's rows in its own columns, in any format; its product asks nothing of others
///   bytes  those of `own`, 12 an entry of `outer`, and the halo, of FP64, twice
///   bits   the same on every run with the same ranks
template <class T>
class RankedProduct : public LinearOperator<T> {
 public:
  RankedProduct(OperatorPtr<T> own, std::shared_ptr<OuterPart> outer);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return own_->name(); }
  std::string details() const override { return own_->details(); }
  /// ||A||_inf of the whole matrix.
  double norm_estimate() const override { return matrix().norm_inf(); }
  /// All ranks come back for the one that is first to want it.
  double advance(Context& ctx, double n) const override {
    return least(ctx, own_->advance(ctx, n));
  }
  std::uint64_t revision() const override { return own_->revision(); }
  DistributedMatrix const& matrix() const { return outer_->matrix(); }
  /// The product with the rank's rows in its own columns alone.
  LinearOperator<T> const& own() const { return *own_; }

 protected:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;

  OperatorPtr<T> own_;
  std::shared_ptr<OuterPart> outer_;
};

/// What judges, and what a set-up sees of several ranks.
class DistributedOperator final : public RankedProduct<double> {
 public:
  using RankedProduct::RankedProduct;

  bool sums_exactly() const override { return own_->sums_exactly(); }
  /// Of all ranks or none: a rank whose format has no product of FP32 vectors has a copy of them.
  std::shared_ptr<LinearOperator<float> const> on_floats(Context&) const override;

 private:
  void do_apply_dot(Context&, double alpha, In<double> x, Out<double> y,
                    double* sigma) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
};

}  // namespace tcsolve
