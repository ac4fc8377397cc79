// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/operator.hpp>

#include <bit>
#include <utility>

#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/cast.hpp>

namespace tcsolve {
namespace {

/// The halo's columns as rows, whose columns are rows of the rank.
Csr<double> outer_transposed(DistributedMatrix const& a) {
  Csr<double> rows = a.outer();
  Csr<double> out = transpose(rows.view());
  for (Index& k : out.columns) k = a.outer_rows()[static_cast<std::size_t>(k)];
  out.cols = a.own().rows;
  return out;
}

}  // namespace

OuterPart::OuterPart(Context& ctx, std::shared_ptr<DistributedMatrix const> a)
    : matrix_(std::move(a)),
      halo_(ctx, matrix_->plan()),
      rows_(to_space(ctx, matrix_->outer_rows().data(), matrix_->outer_rows().size())) {
  take(ctx);
}

void OuterPart::take(Context& ctx) {
  // Few rows, each a chain of loads: as many threads as there are.
  Csr<double> const& all = matrix_->outer();
  if (ctx.device() != nullptr)
    shift_ = std::countr_zero(unsigned(lanes_for(all.rows, all.entries(), 128, 256)));
  Csr<double> outer = matrix_->outer(), transposed = outer_transposed(*matrix_);
  if (outer_) {
    outer_->update_values(ctx, std::move(outer));
    transposed_->update_values(ctx, std::move(transposed));
  } else {
    outer_.emplace(ctx, std::move(outer));
    transposed_.emplace(ctx, std::move(transposed));
  }
}

template <class T>
void OuterPart::add(Context& ctx, double alpha, Out<T> y) {
  CsrView<double> const& a = outer_->view();
  halo_.end(ctx,
            AddOuterRows<T>{
                std::int64_t{a.rows} * y.cols << shift_, alpha, a, rows_.data(), shift_, {}, y});
}

void OuterPart::add_dot(Context& ctx, double alpha, In<double> x, Out<double> y, double const* own,
                        double* sigma) {
  CsrView<double> const& a = outer_->view();
  halo_.end(ctx, AddOuterRowsDot{(std::int64_t{a.rows} << shift_) + 1,
                                 alpha,
                                 a,
                                 rows_.data(),
                                 shift_,
                                 {},
                                 x.data,
                                 y.data,
                                 own,
                                 sigma});
}

template <class T>
void OuterPart::transposed(Context& ctx, In<T> x, double* h) const {
  CsrView<double> const& at = transposed_->view();
  submit(ctx, OuterTransposed<T>{std::int64_t{at.rows} * x.cols, at, x, h});
}

void OuterPart::residual(Context& ctx, ResidualVectors const& v) {
  CsrView<double> const& a = outer_->view();
  halo_.end(ctx, OuterResidual{a.rows, a, rows_.data(), {}, v});
}

template <class T>
RankedProduct<T>::RankedProduct(OperatorPtr<T> own, std::shared_ptr<OuterPart> outer)
    : LinearOperator<T>(own->rows(), own->cols()), own_(std::move(own)), outer_(std::move(outer)) {
  if (own_->cols() != outer_->halo().plan().own)
    throw ShapeError(cat(own_->name(), " has ", own_->cols(), " columns, the rank has ",
                         outer_->halo().plan().own));
}

template <class T>
void RankedProduct<T>::prepare(Context& ctx, Op op) const {
  alone(ctx, [&] { own_->prepare(ctx, op); });
}

template <class T>
Traits RankedProduct<T>::traits() const {
  Traits traits = own_->traits();
  traits.capturable = traits.capturable && outer_->halo().is_capturable();
  traits.operations = outer_->halo().is_operations();
  return traits;
}

template <class T>
Cost RankedProduct<T>::cost(Index k) const {
  Cost cost = own_->cost(k);
  auto const entries = static_cast<double>(matrix().outer().entries());
  cost.flops += 2 * entries * k;
  cost.bytes += 12 * entries + 16.0 * k * outer_->halo().size();
  return cost;
}

template <class T>
void RankedProduct<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  Halo& halo = outer_->halo();
  if (op == Op::none) {
    halo.begin<T>(ctx, x);
    alone(ctx, [&] { own_->apply(ctx, alpha, x, beta, y); });
    outer_->add<T>(ctx, double(alpha), y);
  } else {
    outer_->transposed<T>(ctx, x, halo.place(ctx, x.cols));
    halo.begin_return(ctx, x.cols);
    alone(ctx, [&] { own_->apply(ctx, alpha, x, beta, y, op); });
    halo.end_return<T>(ctx, double(alpha), y);
  }
}

template class RankedProduct<double>;
template class RankedProduct<float>;

std::shared_ptr<LinearOperator<float> const> DistributedOperator::on_floats(Context& ctx) const {
  OperatorPtr<float> own;
  alone(ctx, [&] { own = on_vectors_of<float>(ctx, own_); });
  return std::make_shared<RankedProduct<float>>(std::move(own), outer_);
}

/// Of the own columns in the product's own pass, where it has one; then what the halo adds.
void DistributedOperator::do_apply_dot(Context& ctx, double alpha, In<double> x, Out<double> y,
                                       double* sigma) const {
  // Two parts of a row's y are rounded apart in <x, y>: of most rows that would count (minres at a
  // condition of 1e10 was seen to fail by it). A rank may go either way, in one sum.
  constexpr std::size_t few = 4;
  if (few * matrix().outer_rows().size() > static_cast<std::size_t>(rows())) {
    do_apply(ctx, alpha, x, 0, y, Op::none);
    return dot<double>(ctx, x, y, sigma);
  }
  Halo& halo = outer_->halo();
  auto scope = ctx.arena().scope();
  double* const own = scope.take<double>(1);
  halo.begin<double>(ctx, x);
  alone(ctx, [&] { own_->apply_dot(ctx, alpha, x, y, own); });
  outer_->add_dot(ctx, alpha, x, y, own, sigma);
}

/// The own columns first; the rows with others go on from what they have left, not rounded yet.
void DistributedOperator::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  Halo& halo = outer_->halo();
  auto scope = ctx.arena().scope();
  double* const low =
      v.r_low != nullptr ? v.r_low : scope.take<double>(static_cast<std::size_t>(rows()));
  halo.begin<double>(ctx, vector_view(v.x, cols(), ctx.space()));
  alone(ctx, [&] {
    own_->exact_residual(ctx, {v.b, v.x, v.r, v.b_low, low, v.size, v.weight, v.more});
  });
  outer_->residual(ctx, {v.r, nullptr, v.r, low, v.r_low, v.size, v.weight, true});
}

}  // namespace tcsolve
