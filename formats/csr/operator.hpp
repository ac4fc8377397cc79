// SPDX-License-Identifier: Apache-2.0
/// The CSR product. Every other format is compared with it.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include <tcsolve/formats/csr/product.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/operators/multiplies_sparse.hpp>

namespace tcsolve {

/// Whether ||A||_inf is taken when an operator is made, and again of new values: a pass. Solvers go
/// by it; whoever only multiplies leaves it out, and norm_estimate() is NaN.
enum class CsrNorm { taken, left_out };

/// y = alpha op(A) x + beta y with values stored as S and vectors of T.
///
///   host   FP64 accumulation;  device  accumulation in T
///   bytes  entries (sizeof(S) + 4) + 4 or 8 (rows + 1) + k sizeof(T) (rows + cols)
///   op     A^T is stored as a CSR matrix of its own when it is first asked for
///   sparse x   by rows, by columns and by entries (sparse/spmspv.hpp), the same bits, and by a
///              dense product that is given with dense_by(); from the
///              first on that may go by columns 4 bytes a tile of 16 x 16 that has entries, and
///              sizeof(T) + 1 a row; from the first on that goes by entries A^T and 16 bytes a row.
///              By its own choice it does so where there is room for A^T, the columns of each row
///              ascend, and no column has more than CsrParts::length entries, which one warp would
///              go through
///
/// With CUDA, work that was submitted must finish before the operator is destroyed.
template <class T, class S = T>
class CsrOperator final : public LinearOperator<T>, public MultipliesSparse<T> {
 public:
  /// Copies `a`, or uses its arrays where they lie: then they stay as long as the operator, and go
  /// in without a copy when they are in the Context's space. A matrix on the host is looked through
  /// first, whose rows need not be sorted: MatrixError names the first row with a column or an
  /// offset out of range (require_indices(), matrix/csr.hpp). Cost: a pass over the pattern.
  CsrOperator(Context& ctx, CsrView<S> const& a, Arrays arrays = Arrays::copied);
  CsrOperator(Context& ctx, Csr<S> a);
  /// Takes a matrix in the Context's space over, owned or borrowed, and trusts it.
  CsrOperator(Context& ctx, CsrStorage<S> a, CsrNorm norm = CsrNorm::taken);
  ~CsrOperator() override;

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "csr"; }
  SparseProductNotes multiply_sparse(Context&, SparseProduct<T> const& how,
                                     SparseVector<T> const& x, SparseVector<T>& y) const override;
  /// From now on sparse products of A, and where `best` has it of A^T, may be dense ones of `best`,
  /// the same matrix: where rates say that this is quicker, and for SpmspvWay::dense. What differs
  /// then says multiply_sparse_by_dense() (operators/multiplies_sparse.hpp). `best` gets new values
  /// with this operator; where T is not S it is dropped instead. Null: no more. Throws ShapeError
  /// where the extents are others. dense_by_plan() (formats/choose/sparse_rates.hpp) finds the one.
  void dense_by(DenseProduct<T> best);
  DenseProduct<T> const& dense() const { return dense_; }
  /// ||A||_inf, taken once from the stored values; NaN where that was left out.
  double norm_estimate() const override { return norm_; }
  bool sums_exactly() const override { return all_double; }
  /// Makes the transpose.
  bool inverse_column_norms(Context&, Out<double> d) const override;
  /// The same pattern with new values (LinearOperator), as if made from `a`: they overwrite the old
  /// ones. An operator that borrowed its arrays drops them and borrows `a` if that is in the
  /// Context's space, and copies it else. A
  /// caller who has changed the values in borrowed arrays gives the same arrays once more. A
  /// transpose that was made follows. Cost: a copy and a pass for the norm.
  void update_values(Context&, CsrView<S> const& a);
  void update_values(Context&, Csr<S> a);
  using LinearOperator<T>::update_values;
  CsrView<S> const& view() const { return side_.matrix.view(); }

 private:
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_then(Context&, T alpha, In<T> x, T beta, Out<T> y,
                     SmoothingStep<T> const&) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  void do_update_values(Context&, CsrView<T> const& a) override;
  void follow(Context&);

  static constexpr bool all_double = std::is_same_v<T, double> && std::is_same_v<S, double>;
  struct Side {  // A or A^T, and its long rows
    /// With a place for ||A||_inf, which comes to the host by the same wait; null: not wanted.
    Side(Context&, CsrStorage<S>, double* norm = nullptr);
    CsrParts<S> parts() const;
    CsrStorage<S> matrix;
    Array<Index> row, start;
    mutable Array<T> sums;           // one of each part
    mutable StoredTilesBelow below;  // of products with sparse vectors
  };
  CsrView<S> const& columns_of(Context&, Op) const;
  CsrView<S> const* columns_if_fit(Context&, Op) const;
  static void product(Context&, Side const&, T alpha, In<T> x, T beta, Out<T> y, double* sigma);
  CsrNorm asked_;
  double norm_ = std::numeric_limits<double>::quiet_NaN();
  Side side_;  // which takes the norm
  mutable std::once_flag transposed_once_;
  mutable std::unique_ptr<Side> transposed_;  // on demand
  mutable SpmspvMemory<T> memory_;            // of one product at a time
  DenseProduct<T> dense_;
  mutable std::optional<bool> ascends_;  // columns in each row, where a product has asked
  mutable bool no_room_ = false;         // for A^T, by a product's own choice
};

}  // namespace tcsolve
