// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/swept_inverse.hpp>

#include <utility>

#include <tcsolve/factors/apply/joint_inverse.hpp>

namespace tcsolve {
namespace {

Csr<double> diagonal_matrix(std::vector<double> const& value) {
  Csr<double> m;
  m.rows = m.cols = static_cast<Index>(value.size());
  m.values = value;
  for (Index i = 0; i < m.rows; ++i) {
    m.columns.push_back(i);
    m.offsets.push_back(i + 1);
  }
  return m;
}

}  // namespace

template <class S>
SweptInverse<S>::SweptInverse(Context& ctx, TriangularFactors const& factors, TwoSided const& sides,
                              int sweeps, ApproximateTriangles const* W)
    : LinearOperator<double>(factors.lower.rows, factors.lower.rows), sweeps_(sweeps) {
  update(ctx, factors, sides, W);
}

template <class S>
void SweptInverse<S>::update(Context& ctx, TriangularFactors const& factors, TwoSided const& sides,
                             ApproximateTriangles const* W) {
  store<double>(ctx, sides.entering(), enter_);
  store<S>(ctx, factors.lower, lower_.N);
  store<double>(ctx, diagonal_matrix(factors.inverse_pivots), pivots_);
  store<S>(ctx, factors.upper, upper_.N);
  store<double>(ctx, sides.leaving(), leave_);
  if (W == nullptr) return;
  store<S>(ctx, W->lower, lower_.W);
  store<S>(ctx, W->upper, upper_.W);
}

template <class S>
SweptInverse<S>::SweptInverse(Context& ctx, JointFactors const& factors, TwoSided const& sides,
                              int sweeps, bool symmetric)
    : LinearOperator<double>(factors.rows(), factors.rows()), sweeps_(sweeps) {
  // Of the patterns, whose numbers are zeros: W is the identity on them.
  TriangularFactors const& patterns = factors.pattern(ctx);
  ApproximateTriangles const W = triangular_inverses(ctx, patterns, false);
  update(ctx, patterns, sides, &W);
  update(ctx, factors, sides, symmetric);
}

template <class S>
void SweptInverse<S>::update(Context& ctx, JointFactors const& factors, TwoSided const& sides,
                             bool symmetric) {
  Context::Entry const entry(ctx);
  store<double>(ctx, sides.entering(), enter_);
  store<double>(ctx, sides.leaving(), leave_);
  JointArrays const f = factors.arrays();
  auto memory = ctx.arena().scope();
  double* const W = memory.template take<double>(factors.entries());
  double* const values = memory.template take<double>(factors.entries());
  ctx.visit([&](auto& on) { invert_triangles(on, f, factors.values(), symmetric, W); });
  auto const give = [&](StoredProduct const& to, double const* from, JointPart part) {
    ctx.visit([&](auto& on) { take_part(on, f, from, part, to.pattern.offsets, values); });
    to.update(ctx, values);
  };
  give(lower_.N, factors.values(), JointPart::lower);
  give(upper_.N, factors.values(), JointPart::upper);
  give(lower_.W, W, JointPart::lower_with_diagonal);
  give(upper_.W, W, JointPart::upper_with_diagonal);
  pivots_.update(ctx, factors.inverse_pivots());
}

template <class S>
void SweptInverse<S>::prepare(Context& ctx, Op op) const {
  for (StoredProduct const* part :
       {&enter_, &lower_.N, &lower_.W, &pivots_, &upper_.N, &upper_.W, &leave_})
    if (part->product) part->product->prepare(ctx, op);
}

template <class S>
Traits SweptInverse<S>::traits() const {
  Traits traits = lower_.N.product->traits();
  traits.operations = false;
  return traits;
}

template <class S>
Cost SweptInverse<S>::cost(Index k) const {
  Cost total;
  auto const add = [&](StoredProduct const& part, int times) {
    if (!part.product) return;
    total.flops += times * part.product->cost(k).flops;
    total.bytes += times * part.product->cost(k).bytes;
  };
  add(enter_, 1);
  for (Triangle const* t : {&lower_, &upper_}) {
    add(t->N, sweeps_);
    add(t->W, sweeps_ + 1);
  }
  add(pivots_, 1);
  add(leave_, 1);
  return total;
}

/// y becomes y_sweeps, from b in y.
template <class S>
void SweptInverse<S>::solve(Context& ctx, Triangle const& t, Out<double> y, Op op) const {
  if (!t.W.product) return sweep(ctx, t, y, op);
  auto scope = ctx.arena().scope();
  Out<double> const b = scope.template vectors<double>(rows(), y.cols);
  Out<double> const r = scope.template vectors<double>(rows(), y.cols);
  copy<double, double>(ctx, y, b);
  t.W.product->apply(ctx, 1, b, 0, y, op);
  for (int k = 0; k < sweeps_; ++k) {
    // r = b - T y. With W^T and T^T this makes the transposed map: 2 W^T - W^T T^T W^T after a
    // sweep.
    axpby<double, double>(ctx, 1.0, b, 0.0, r);
    axpby<double, double>(ctx, -1.0, y, 1.0, r);
    t.N.product->apply(ctx, -1, y, 1, r, op);
    t.W.product->apply(ctx, 1, r, 1, y, op);
  }
}

/// The same with W = I.
template <class S>
void SweptInverse<S>::sweep(Context& ctx, Triangle const& t, Out<double> y, Op op) const {
  auto scope = ctx.arena().scope();
  Out<double> const b = scope.template vectors<double>(rows(), y.cols);
  Out<double> const next = scope.template vectors<double>(rows(), y.cols);
  copy<double, double>(ctx, y, b);
  Out<double> from = y, to = next;
  for (int k = 0; k < sweeps_; ++k) {
    copy<double, double>(ctx, b, to);
    t.N.product->apply(ctx, -1, from, 1, to, op);
    std::swap(from, to);
  }
  if (from.data != y.data) copy<double, double>(ctx, from, y);
}

template <class S>
void SweptInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                               Op op) const {
  bool const plain = op == Op::none;
  auto scope = ctx.arena().scope();
  Out<double> const t = scope.template vectors<double>(rows(), y.cols);
  Out<double> const u = scope.template vectors<double>(rows(), y.cols);
  (plain ? enter_ : leave_).product->apply(ctx, 1, x, 0, t, op);
  solve(ctx, plain ? lower_ : upper_, t, op);
  pivots_.product->apply(ctx, 1, t, 0, u, op);
  solve(ctx, plain ? upper_ : lower_, u, op);
  (plain ? leave_ : enter_).product->apply(ctx, alpha, u, beta, y, op);
}

template class SweptInverse<double>;
template class SweptInverse<float>;
template class SweptInverse<half>;

}  // namespace tcsolve
