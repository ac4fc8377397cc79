// SPDX-License-Identifier: Apache-2.0
/// Products of an operator and a sparse vector, beside LinearOperator::apply().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/sparse/spmspv_choice.hpp>

namespace tcsolve {

/// y = alpha op(A) x + beta y by A's dense product: x is made dense, where not all of its tiles are
/// there, A.apply() writes y's packed tiles, and what is not 0 is an entry of y. So two things
/// differ from sparse/spmspv.hpp: a sum that is 0, by cancelling or of stored zeros, is no entry,
/// and values have the bits of A.apply(), to whose Inf and NaN its traits() apply. A mask is looked
/// at when the product is made. All tiles of y are packed, those without an entry too; the host
/// does not wait. plus_times alone.
///
///   throws what multiply_sparse() and apply() throw
///   cost   apply(); n sizeof(T) written and read for x, unless all of its tiles are there, and a
///          read of y
template <class T>
SparseProductNotes multiply_sparse_by_dense(Context&, LinearOperator<T> const& A,
                                            SparseProduct<T> const& how, SparseVector<T> const& x,
                                            SparseVector<T>& y);

/// The quickest dense product of a matrix that has sparse ones: the same matrix in another format.
template <class T>
struct DenseProduct {
  std::shared_ptr<LinearOperator<T>> A;  ///< null: there is none
  double us = 0;                         ///< of A.apply() with one vector, as measured or planned
};

/// An operator whose matrix multiplies sparse vectors.
template <class T>
class MultipliesSparse {
 public:
  virtual ~MultipliesSparse() = default;
  /// y = alpha A x + beta y (sparse/spmspv.hpp). Throws what that says, and Unsupported for a way
  /// that the matrix has not.
  virtual SparseProductNotes multiply_sparse(Context&, SparseProduct<T> const& how,
                                             SparseVector<T> const& x,
                                             SparseVector<T>& y) const = 0;

  /// What SpmspvWay::automatic goes by. `rates` is asked once, by the first product that needs
  /// them. Without it these are the defaults of SpmspvRates.
  using Rates = std::function<SpmspvRates(Context const&)>;
  void decide_by(Rates rates) { ask_ = std::move(rates), known_.reset(); }

 protected:
  /// Those of the product, else the operator's.
  SpmspvRates const& rates(Context const& ctx, SparseProduct<T> const& how) const {
    if (how.rates != nullptr) return *how.rates;
    if (!known_) known_ = ask_ ? ask_(ctx) : SpmspvRates{};
    return *known_;
  }

 private:
  Rates ask_;
  mutable std::optional<SpmspvRates> known_;
};

/// The same of any operator; throws Unsupported where its matrix does not multiply sparse vectors.
template <class T>
SparseProductNotes multiply_sparse(Context& ctx, LinearOperator<T> const& A,
                                   SparseProduct<T> const& how, SparseVector<T> const& x,
                                   SparseVector<T>& y) {
  auto const* const able = dynamic_cast<MultipliesSparse<T> const*>(&A);
  if (able == nullptr)
    throw Unsupported(cat(A.name(),
                          ": no products of sparse vectors; a CSR matrix has them "
                          "(sparse/spmspv.hpp), and the format that says so in --list"));
  return able->multiply_sparse(ctx, how, x, y);
}

}  // namespace tcsolve
