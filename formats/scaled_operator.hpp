// SPDX-License-Identifier: Apache-2.0
/// What operators have in common that may store 2^r_i a_ij 2^c_j for a_ij, so that narrow values
/// keep their range: every product undoes the powers of two, of the columns on x and of the rows on
/// the sums.
#pragma once

#include <utility>

#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// Values stored as S in a Matrix, vectors and sums of T. No transpose. Memory besides the matrix:
/// a factor for each row and column that was scaled, and a copy of x.
template <class T, class S, class Matrix>
class ScaledOperator : public ConvertedOperator<T, S, Matrix> {
  using Base = ConvertedOperator<T, S, Matrix>;

 public:
  /// The same pattern with new values (LinearOperator), as they are. Cost: a copy and a pass for
  /// the norm; with values that were scaled before, memory as well.
  void update_values(Context& ctx, CsrView<S> const& a) {
    Base::update_values(ctx, a);
    undo_ = {};
    scaling_ = Scaling::refuse;
  }
  /// The same with values that were scaled anew: not by the exponents of the matrix before.
  void update_values(Context& ctx, NarrowCsr<S> const& a) {
    Undo undo(ctx, a);  // what may throw comes first
    update_values(ctx, a.view());
    undo_scale(ctx, a, std::move(undo));
  }
  void update_values(Context& ctx, ScaledCsr<S> const& a) {
    update_values(ctx, NarrowCsr<S>(ctx, a));
  }
  using LinearOperator<T>::update_values;

  /// Unless its powers of two are undone in every product.
  bool sums_exactly() const override { return Base::sums_exactly() && scaling_ == Scaling::refuse; }

 protected:
  using Base::Base;
  /// The matrix before it was scaled: its powers of two are undone in every product.
  template <class... Tuning>
  ScaledOperator(Context& ctx, NarrowCsr<S> const& a, Tuning const&... tuning)
      : Base(ctx, a.view(), tuning...) {
    undo_scale(ctx, a, Undo(ctx, a));
  }

  /// The factor of each sum, 2^-r_i; null where all are 1.
  T const* row_scale() const { return undo_.rows.data(); }
  /// product(x', y) with x'_j = 2^-c_j x_j, a column of a block at a time; x itself where no column
  /// was scaled.
  template <class F>
  void multiply(Context& ctx, In<T> x, Out<T> y, F const& product) const {
    if (undo_.columns.size() == 0) return product(x, y);
    for (Index j = 0; j < y.cols; ++j) {
      In<T> from = x;
      from.data += x.offset(0, j), from.cols = 1;
      Out<T> to = y;
      to.data += y.offset(0, j), to.cols = 1;
      Out<T> const scaled = undo_.x.view();
      submit(ctx, Multiply<T>{x.rows, 1.0, undo_.columns.data(), from, 0.0, scaled});
      product(In<T>(scaled), to);
    }
  }

 private:
  struct Undo {
    Array<T> rows, columns;  // factors; empty where all are 1
    mutable Array<T> x;      // times the factors of the columns
    Undo() = default;
    Undo(Context& ctx, NarrowCsr<S> const& a)
        : rows(a.template undone_rows<T>(ctx)),
          columns(a.template undone_columns<T>(ctx)),
          x(ctx.space(), columns.size()) {}
  };
  void undo_scale(Context& ctx, NarrowCsr<S> const& a, Undo undo) {
    undo_ = std::move(undo);
    scaling_ = Scaling::powers_of_two;
    if (a.scaled()) this->norm_ = a.unscaled_norm(ctx);
  }
  void do_update_values(Context& ctx, CsrView<T> const& a) override {
    if constexpr (std::is_same_v<T, S>) {
      update_values(ctx, a);
    } else {
      auto memory = ctx.arena().scope();
      update_values(ctx, NarrowCsr<S>(ctx, a, beyond(scaling_), memory));
    }
  }

  Undo undo_;
  Scaling scaling_ = Scaling::refuse;  // of values that come wider than S
};

}  // namespace tcsolve
