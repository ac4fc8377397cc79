// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/spmspv.hpp>

#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/spmspv_backends.hpp>
#include <tcsolve/sparse/spmspv_choice.hpp>

namespace tcsolve {

StoredTilesBelow tiles_below(Context& ctx, PatternView const& a) {
  Context::Entry const entry(ctx);
  narrow(a.entries, "sparse product by columns: entries");
  return ctx.visit([&](auto& on) { return tiles_below_csr(on, ctx.arena(), a); });
}

bool rows_ascend(Context& ctx, PatternView const& a) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return rows_ascend(on, ctx.arena(), a); });
}

template <class T>
void require_multiplies(Context const& ctx, Index rows, Index cols, SparseProduct<T> const& how,
                        SparseVector<T> const& x, SparseVector<T> const& y) {
  auto const space = [](SparseVector<T> const& v) { return v.arrays().place.space(); };
  if (x.rows() != cols || y.rows() != rows)
    throw ShapeError(cat("sparse product: the matrix is ", rows, " x ", cols, "; x has ", x.rows(),
                         " elements, y ", y.rows()));
  if (x.view().side != y.view().side)
    throw ShapeError(cat("sparse product: x has tiles of ", x.view().side, ", y of ", y.view().side,
                         "; make both alike"));
  if ((cols > 0 && space(x) != ctx.space()) || (rows > 0 && space(y) != ctx.space()))
    throw ShapeError(cat("sparse product: x or y lies elsewhere; the Context computes on the ",
                         name(ctx.space())));
  if (how.mask != nullptr && how.mask->rows() != rows)
    throw ShapeError(cat("sparse product: the mask has ", how.mask->rows(), " elements, y ", rows));
  if (how.semiring != Semiring::plus_times &&
      (how.alpha != T(1) || (how.beta != T(0) && how.beta != T(1))))
    throw ShapeError("sparse product: or_and and min_first take alpha = 1, and beta = 0 or 1");
  if (how.semiring != Semiring::plus_times && how.way == SpmspvWay::dense)
    throw Unsupported("sparse product: a dense product has plus_times alone; go by rows");
}

template <class S, class T>
SparseProductNotes multiply_sparse(Context& ctx, CsrView<S> const& a, SparseProduct<T> const& how,
                                   SparseVector<T> const& x, SparseVector<T>& y,
                                   SpmspvMemory<T>& memory, TilesBelow const& below,
                                   CsrView<S> const* transposed) {
  Context::Entry const entry(ctx);
  if (a.space != ctx.space())
    throw ShapeError(cat("sparse product: the matrix lies on the ", name(a.space),
                         ", the Context computes on the ", name(ctx.space())));
  require_multiplies(ctx, a.rows, a.cols, how, x, y);
  if (how.op != Op::none)
    throw Unsupported("sparse product: a CSR view has no transpose; a CsrOperator keeps one");
  if (how.way == SpmspvWay::dense)
    throw Unsupported(
        "sparse product: a dense product of csr adds a row in another order than a sparse one; go "
        "by rows or by columns, take a format with tiles, or give a CsrOperator a dense product to "
        "take (dense_by())");
  if (how.way == SpmspvWay::columns && below.starts == nullptr)
    throw Unsupported("sparse product: csr goes by columns where tiles_below() is given");
  if (how.way == SpmspvWay::entries && transposed == nullptr)
    throw Unsupported("sparse product: csr goes by entries where its transpose is given");
  SpmspvWay way = how.way;
  if (way == SpmspvWay::automatic && below.starts != nullptr)
    way = choose_way(how.rates != nullptr ? *how.rates : SpmspvRates{},
                     counts_of(a, below, x, transposed != nullptr));
  if (way == SpmspvWay::entries) narrow(a.entries, "sparse product by entries: entries");
  SparseColumns<S> const by{.tiles = way == SpmspvWay::columns ? below : TilesBelow{},
                            .entries = way == SpmspvWay::entries ? transposed : nullptr};
  SparseProductNotes notes;
  y.change([&](SparseVectorArrays<T>& arrays) {
    notes = ctx.visit([&](auto& on) {
      return spmspv_csr(on, ctx.arena(), a, by, how, x.view(), arrays, memory);
    });
  });
  return notes;
}

template <class S, class T>
Index update_residual(Context& ctx, CsrView<S> const& a, SparseVector<T> const& dx, Out<T> r) {
  Context::Entry const entry(ctx);
  if (r.rows != a.rows || r.cols != 1 || r.space != ctx.space())
    throw ShapeError(cat("update_residual: the matrix has ", a.rows, " rows, r is ", r.rows, " x ",
                         r.cols, " on the ", name(r.space)));
  SparseVector<T> change(ctx, a.rows, dx.view().side);
  multiply_sparse(ctx, a, SparseProduct<T>{}, dx, change);
  ctx.visit([&](auto& on) { subtract_sparse(on, ctx.arena(), change.view(), r); });
  return change.entries(ctx);
}

#define TCSOLVE_INSTANTIATE(S, T)                                                   \
  template SparseProductNotes multiply_sparse<S, T>(                                \
      Context&, CsrView<S> const&, SparseProduct<T> const&, SparseVector<T> const&, \
      SparseVector<T>&, SpmspvMemory<T>&, TilesBelow const&, CsrView<S> const*);    \
  template Index update_residual<S, T>(Context&, CsrView<S> const&, SparseVector<T> const&, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
template void require_multiplies<double>(Context const&, Index, Index, SparseProduct<double> const&,
                                         SparseVector<double> const&, SparseVector<double> const&);
template void require_multiplies<float>(Context const&, Index, Index, SparseProduct<float> const&,
                                        SparseVector<float> const&, SparseVector<float> const&);

}  // namespace tcsolve
