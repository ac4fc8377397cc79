// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/swept_products.hpp>

#include <utility>

namespace tcsolve {

/// y becomes y_sweeps, from b in y.
template <class T>
void SweptProducts<T>::solve(Context& ctx, Triangle const& t, Out<T> y, Op op) const {
  if (!t.W) return sweep(ctx, t, y, op);
  auto scope = ctx.arena().scope();
  Out<T> const b = scope.template vectors<T>(y.rows, y.cols);
  Out<T> const r = scope.template vectors<T>(y.rows, y.cols);
  copy<T, T>(ctx, y, b);
  t.W->apply(ctx, 1, b, 0, y, op);
  for (int k = 0; k < sweeps; ++k) {
    // r = b - T y. With W^T and T^T this makes the transposed map: 2 W^T - W^T T^T W^T after a
    // sweep.
    axpby<T, T>(ctx, 1.0, b, 0.0, r);
    axpby<T, T>(ctx, -1.0, y, 1.0, r);
    t.N->apply(ctx, -1, y, 1, r, op);
    t.W->apply(ctx, 1, r, 1, y, op);
  }
}

/// The same with W = I.
template <class T>
void SweptProducts<T>::sweep(Context& ctx, Triangle const& t, Out<T> y, Op op) const {
  auto scope = ctx.arena().scope();
  Out<T> const b = scope.template vectors<T>(y.rows, y.cols);
  Out<T> const next = scope.template vectors<T>(y.rows, y.cols);
  copy<T, T>(ctx, y, b);
  Out<T> from = y, to = next;
  for (int k = 0; k < sweeps; ++k) {
    copy<T, T>(ctx, b, to);
    t.N->apply(ctx, -1, from, 1, to, op);
    std::swap(from, to);
  }
  if (from.data != y.data) copy<T, T>(ctx, from, y);
}

template <class T>
void SweptProducts<T>::apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  bool const plain = op == Op::none;
  auto scope = ctx.arena().scope();
  Out<T> const t = scope.template vectors<T>(y.rows, y.cols);
  Out<T> const u = scope.template vectors<T>(y.rows, y.cols);
  (plain ? enter : leave)->apply(ctx, 1, x, 0, t, op);
  solve(ctx, plain ? lower : upper, t, op);
  pivots->apply(ctx, 1, t, 0, u, op);
  solve(ctx, plain ? upper : lower, u, op);
  (plain ? leave : enter)->apply(ctx, alpha, u, beta, y, op);
}

template struct SweptProducts<double>;
template struct SweptProducts<float>;

}  // namespace tcsolve
