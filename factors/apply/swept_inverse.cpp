// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/swept_inverse.hpp>

#include <string>
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

/// The costs of all products of an application.
template <class T>
Cost cost_of(SweptProducts<T> const& p, Index k) {
  Cost total;
  auto const add = [&](std::shared_ptr<LinearOperator<T> const> const& part, int times) {
    if (!part) return;
    total.flops += times * part->cost(k).flops;
    total.bytes += times * part->cost(k).bytes;
  };
  add(p.enter, 1);
  for (auto const* t : {&p.lower, &p.upper}) {
    add(t->N, p.sweeps);
    add(t->W, p.sweeps + 1);
  }
  add(p.pivots, 1);
  add(p.leave, 1);
  return total;
}

template <class T>
Traits traits_of(SweptProducts<T> const& p) {
  Traits traits = p.lower.N->traits();
  traits.operations = false;
  return traits;
}

template <class T>
void prepare_all(Context& ctx, SweptProducts<T> const& p, Op op) {
  for (auto const* part :
       {&p.enter, &p.lower.N, &p.lower.W, &p.pivots, &p.upper.N, &p.upper.W, &p.leave})
    if (*part) (*part)->prepare(ctx, op);
}

/// The same map on FP32 vectors.
class OnFloats final : public LinearOperator<float> {
 public:
  OnFloats(std::string name, Index n, SweptProducts<float> products)
      : LinearOperator<float>(n, n), name_(std::move(name)), products_(std::move(products)) {}
  void prepare(Context& ctx, Op op) const override { prepare_all(ctx, products_, op); }
  Traits traits() const override { return traits_of(products_); }
  Cost cost(Index k) const override { return cost_of(products_, k); }
  std::string name() const override { return name_; }

 private:
  void do_apply(Context& ctx, float alpha, In<float> x, float beta, Out<float> y,
                Op op) const override {
    products_.apply(ctx, alpha, x, beta, y, op);
  }
  std::string name_;
  SweptProducts<float> products_;
};

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
SweptProducts<double> SweptInverse<S>::products() const {
  return {sweeps_,
          enter_.product,
          {lower_.N.product, lower_.W.product},
          pivots_.product,
          {upper_.N.product, upper_.W.product},
          leave_.product};
}

template <class S>
void SweptInverse<S>::prepare(Context& ctx, Op op) const {
  prepare_all(ctx, products(), op);
}

template <class S>
Traits SweptInverse<S>::traits() const {
  return traits_of(products());
}

template <class S>
Cost SweptInverse<S>::cost(Index k) const {
  return cost_of(products(), k);
}

template <class S>
void SweptInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                               Op op) const {
  products().apply(ctx, alpha, x, beta, y, op);
}

template <class S>
std::shared_ptr<LinearOperator<float> const> SweptInverse<S>::on_floats(Context& ctx) const {
  bool whole = true;
  auto const view = [&](StoredProduct const& part) -> OperatorPtr<float> {
    if (!part.product) return nullptr;
    auto floats = part.floats->view(ctx);
    whole = whole && floats != nullptr;
    return floats;
  };
  SweptProducts<float> products{sweeps_,
                                view(enter_),
                                {view(lower_.N), view(lower_.W)},
                                view(pivots_),
                                {view(upper_.N), view(upper_.W)},
                                view(leave_)};
  if (!whole) return nullptr;
  return std::make_shared<OnFloats>(name(), this->rows(), std::move(products));
}

template class SweptInverse<double>;
template class SweptInverse<float>;
template class SweptInverse<half>;

}  // namespace tcsolve
