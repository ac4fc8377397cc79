// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/tile16/operator.hpp>

#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve {

template <class T, class S>
Traits Tile16Operator<T, S>::traits() const {
  return {.precision = {real_of<S>, real_of<T>, real_of<T>}, .operations = true};
}

/// A product reads A or A^T, whether both are kept or not.
template <class T, class S>
Cost Tile16Operator<T, S>::cost(Index k) const {
  Cost cost = ConvertedOperator<T, S, Tile16<S>>::cost(k);
  cost.bytes -= double(this->matrix().bytes() - this->matrix().own_bytes());
  return cost;
}

template <class T, class S>
void Tile16Operator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op) const {
  submit(ctx, Tile16Multiply<S, T>{y.size(), alpha, this->matrix().view(), x, beta, y});
}

template <class T, class S>
void Tile16Operator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                        double* sigma) const {
  submit(ctx, Tile16MultiplyDot<S, T>{y.rows, alpha, this->matrix().view(), x.data, y.data, sigma});
}

template <class T, class S>
SparseProductNotes Tile16Operator<T, S>::multiply_sparse(Context& ctx, SparseProduct<T> const& how,
                                                         SparseVector<T> const& x,
                                                         SparseVector<T>& y) const {
  Context::Entry const entry(ctx);
  bool const turned = how.op != Op::none;
  Tile16View<S> const& stored = this->matrix().view();
  require_multiplies(ctx, turned ? stored.cols : stored.rows, turned ? stored.rows : stored.cols,
                     how, x, y);
  Tile16View<S> const& a = turned ? this->matrix().transposed(ctx).view() : stored;
  StoredTilesBelow& stored_below = turned ? below_transposed_ : below_;
  Offset const below = a.tiles + (a.entries - a.packed);
  SpmspvWay const way =
      how.way != SpmspvWay::automatic
          ? how.way
          : choose_way(this->rates(ctx, how), {.tile_rows = a.tile_rows,
                                               .below = below,
                                               .entries = a.entries,
                                               .x_share = tile_share(x),
                                               .dense = how.semiring == Semiring::plus_times,
                                               .columns = true});
  if (way == SpmspvWay::entries)
    throw Unsupported("tile16: no sparse products by entries; csr has them");
  bool const by_columns = way == SpmspvWay::columns;
  T const* sums = nullptr;
  if (way == SpmspvWay::dense) {
    auto const make = [&](Vector<T>& v, Index rows) {  // one of no rows has a space, too
      if (v.rows() != rows || v.view().space != ctx.space()) v = Vector<T>(ctx.space(), rows);
    };
    make(dense_x_, a.cols), make(dense_sums_, a.rows);
    x.to_dense(ctx, dense_x_.view());
    submit(ctx, Tile16Multiply<S, T>{std::int64_t{a.rows}, T(1), a, std::as_const(dense_x_).view(),
                                     T(0), dense_sums_.view()});
    sums = dense_sums_.view().data;
  }
  SparseProductNotes notes;
  y.change([&](SparseVectorArrays<T>& arrays) {
    notes = ctx.visit([&](auto& on) {
      if (by_columns && stored_below.view.starts == nullptr)
        stored_below = below_tile16(on, ctx.arena(), a);
      return spmspv_tile16(on, ctx.arena(), a, by_columns ? stored_below.view : TilesBelow{}, sums,
                           how, x.view(), arrays, memory_);
    });
  });
  // A matrix without rows has no sums, and any way is the right one.
  if (way == SpmspvWay::dense) notes.way = way;
  return notes;
}

#define TCSOLVE_INSTANTIATE(S, T) template class Tile16Operator<T, S>;
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
