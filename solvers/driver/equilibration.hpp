// SPDX-License-Identifier: Apache-2.0
/// Where A is stored scaled by powers of two (operators/rescaled.hpp), the method works on what is
/// stored, and nothing is undone in its products:
///
///     driver                                      method
///     A d = r         A = 2^-s R^-1 B C^-1        B d' = r'
///     r               -- enter -->                r' = R r, scaled to norm 1 again
///     M               -- take -->                 M' = C^-1 M R^-1
///     d = 2^s C d'    <-- leave --                d'
///
/// B M' = R (2^s A M) R^-1, so that the Krylov spaces are those of A and M, which is made of A as
/// it was given; with R = C conjugate gradients and MINRES make the same iterates, since all their
/// inner products but ||r|| are the same numbers. M' is a diagonal where M is one or there is none.
///
/// ||R r|| is not ||r||. A run takes its fall for that of ||r||, from where r was last made anew;
/// the driver looks at ||r|| itself, and so do tolerances, norms and verdicts.
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/rescaled.hpp>

namespace tcsolve {

template <class T>
class Equilibration {
 public:
  /// B and M' in place of A and M (null: none), where that suits a method that needs a symmetric A
  /// or not. A method for any shape of A minimises ||r|| and is given A.
  void take(Context& ctx, bool square, bool symmetric, OperatorPtr<T>& A, OperatorPtr<T>& M) {
    rows_ = columns_ = nullptr;
    shift_ = 0;
    auto const stored = std::dynamic_pointer_cast<Rescaled<T> const>(A);
    if (!stored || !square || (symmetric && !stored->congruent())) return;
    rows_ = stored->row_exponents(), columns_ = stored->column_exponents();
    shift_ = stored->shift();
    A = stored->scaled();
    if (!uneven()) return;
    if (!M) M = std::make_shared<Identity<T>>(A->cols());
    M = std::make_shared<Rescaled<T>>(ctx, std::move(M), 0, columns_, rows_);
    moved_.resize(ctx.space(), columns_ ? A->cols() : 0);
  }
  /// Rows or columns are scaled by different powers of two.
  bool uneven() const { return rows_ || columns_; }
  /// s; leave() leaves 2^s to its caller.
  int shift() const { return shift_; }

  /// r = R r.
  void scale(Context& ctx, Out<T> r) const {
    if (rows_) times_powers<T>(ctx, 1, rows_, 1, r, 0, r);
  }
  /// r = 2^-e R r, of a norm in [1, 2); returns e. One wait where rows are scaled.
  int enter(Context& ctx, Out<T> r) const {
    if (!rows_) return 0;
    scale(ctx, r);
    double const size = norm<T>(ctx, r);
    if (!std::isfinite(size) || size == 0) return 0;
    int const e = std::ilogb(size);
    rescale_into<T, T>(ctx, -e, r, r);
    return e;
  }
  /// C d, until the next call.
  In<T> leave(Context& ctx, In<T> d) {
    if (!columns_) return d;
    times_powers<T>(ctx, 1, columns_, 1, d, 0, moved_);
    return moved_;
  }

 private:
  Exponents rows_, columns_;
  int shift_ = 0;
  Vector<T> moved_;
};

}  // namespace tcsolve
