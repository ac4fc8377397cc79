// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/operator.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/cast.hpp>

namespace tcsolve {
namespace {

/// Entry k of the transpose is entry from[k] of a; offsets and columns as those of CSR.
struct TransposedPattern {
  std::vector<Offset> offsets, from;
  std::vector<Index> columns;  // rows of a

  explicit TransposedPattern(Csr<double> const& a)
      : offsets(static_cast<std::size_t>(a.cols) + 1),
        from(a.columns.size()),
        columns(a.columns.size()) {
    for (Index const j : a.columns) ++offsets[static_cast<std::size_t>(j) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Offset> next(offsets.begin(), offsets.end() - 1);
    for (Index i = 0; i < a.rows; ++i)
      for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
        auto const place = static_cast<std::size_t>(
            next[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])]++);
        from[place] = e, columns[place] = i;
      }
  }
};

/// Of the entries outside, and in the order of the transpose.
std::vector<double> both(std::vector<double> const& outer, std::vector<Offset> const& from) {
  std::vector<double> values;
  values.reserve(2 * outer.size());
  values = outer;
  for (Offset const e : from) values.push_back(outer[static_cast<std::size_t>(e)]);
  return values;
}

/// For every 32 rows of `size`, and for their end, the first of `rows` that is not before them.
std::vector<Index> first_parts(std::vector<Index> const& rows, Index size) {
  constexpr int together = OuterRows::together;
  std::vector<Index> first(static_cast<std::size_t>((size + together - 1) / together) + 1);
  for (std::size_t block = 0, k = 0; block < first.size(); ++block) {
    while (k < rows.size() && rows[k] < std::int64_t{together} * static_cast<std::int64_t>(block))
      ++k;
    first[block] = static_cast<Index>(k);
  }
  return first;
}

}  // namespace

OuterPart::OuterPart(Context& ctx, std::shared_ptr<DistributedMatrix const> a)
    : matrix_(std::move(a)), halo_(ctx, matrix_->plan()) {
  Csr<double> const& outer = matrix_->outer();
  TransposedPattern transposed(outer);
  for (Index& k : transposed.columns) k = matrix_->outer_rows()[static_cast<std::size_t>(k)];
  transposed_from_ = std::move(transposed.from);
  std::vector<Index> const first = first_parts(matrix_->outer_rows(), matrix_->own().rows);

  std::size_t const entries = outer.values.size(),
                    rows_of_both = outer.offsets.size() + transposed.offsets.size();
  PackedLists lists(entries * 2 * (sizeof(double) + sizeof(Index)) +
                    rows_of_both * (sizeof(Offset) + sizeof(Index)) + first.size() * sizeof(Index));
  std::size_t const values = lists.add(both(outer.values, transposed_from_)),
                    offsets = lists.add(outer.offsets),
                    transposed_offsets = lists.add(transposed.offsets),
                    columns = lists.add(outer.columns),
                    transposed_columns = lists.add(transposed.columns),
                    rows = lists.add(matrix_->outer_rows()), first_at = lists.add(first);
  lists_ = to_space(ctx, lists.bytes().data(), lists.bytes().size());
  values_ = list_at<double>(lists_, values);
  // Few rows, each a chain of loads: as many threads as there are, and no more, lest some come
  // twice.
  constexpr int blocks = 128, of_a_block = 512;
  int threads =
      ctx.device() != nullptr ? lanes_for(outer.rows, outer.entries(), blocks, of_a_block / 2) : 1;
  while (threads > 1 && std::int64_t{threads} * outer.rows > blocks * of_a_block) threads /= 2;
  // All of a block's rows may be outer rows, of a plane between two halves of a mesh: while it
  // joins them, all others wait.
  constexpr int most_joined = blocks * of_a_block * OuterRows::most_of_a_thread;
  if (matrix_->own().rows <= most_joined)
    parts_ = Array<double>(ctx.space(), std::max<std::size_t>(1, matrix_->outer_rows().size()));
  outer_ = {{outer.rows, outer.cols, outer.entries(), list_at<Offset>(lists_, offsets),
             list_at<Index>(lists_, columns), values_, ctx.space()},
            list_at<Index>(lists_, rows),
            std::countr_zero(static_cast<unsigned>(threads)),
            parts_.data(),
            list_at<Index>(lists_, first_at),
            matrix_->own().rows};
  transposed_ = {outer.cols,
                 matrix_->own().rows,
                 outer.entries(),
                 list_at<Offset>(lists_, transposed_offsets),
                 list_at<Index>(lists_, transposed_columns),
                 values_ + outer.entries(),
                 ctx.space()};
}

void OuterPart::update_values(Context& ctx) {
  std::vector<double> const values = both(matrix_->outer().values, transposed_from_);
  copy_bytes(ctx, values_, ctx.space(), values.data(), Space::host, values.size() * sizeof(double));
}

template <class T>
void OuterPart::add(Context& ctx, double alpha, Out<T> y) {
  std::int64_t const n = std::int64_t{outer_.a.rows} * y.cols << outer_.shift;
  halo_.end(ctx, AddOuterRows<T>{n, alpha, outer_, {}, y});
}

void OuterPart::add_dot(Context& ctx, double alpha, In<double> x, Out<double> y, double const* own,
                        double* sigma) {
  std::int64_t const n = (std::int64_t{outer_.a.rows} << outer_.shift) + 1;
  halo_.end(ctx, AddOuterRowsDot{n, alpha, outer_, {}, x.data, y.data, own, sigma});
}

template <class T>
void OuterPart::transposed(Context& ctx, In<T> x, double* h) const {
  CsrView<double> const& at = transposed_;
  submit(ctx, OuterTransposed<T>{std::int64_t{at.rows} * x.cols, at, x, h});
}

void OuterPart::residual(Context& ctx, ResidualVectors const& v) {
  halo_.end(ctx, OuterResidual{outer_.a.rows, outer_.a, outer_.rows, {}, v});
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
