// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/linear_operator.hpp>

#include <functional>
#include <utility>

#include <tcsolve/kernels/blocks.hpp>

namespace tcsolve {

namespace {

/// One past the last element a view touches.
template <class T>
T const* end_of(MultiView<T> v) {
  return v.size() == 0 ? v.data : v.data + v.offset(v.rows - 1, v.cols - 1) + 1;
}

/// Whether an application has nothing to do. A rank without rows takes part in what others do.
template <class T>
bool is_nothing(Context const& ctx, Out<T> y) {
  return y.size() == 0 && !ctx.communicator().extends_sums();
}

template <class T>
bool overlap(In<T> x, In<T> y) {
  std::less<T const*> before;
  return x.size() > 0 && y.size() > 0 && before(x.data, end_of(y)) && before(y.data, end_of(x));
}

}  // namespace

template <class T>
void LinearOperator<T>::check_operands(Context& ctx, In<T> x, Out<T> y, Op op) const {
  Index domain = op == Op::none ? cols_ : rows_, range = op == Op::none ? rows_ : cols_;
  auto shape = [&] {
    return cat(name(), op == Op::none ? " is " : " transposed is ", range, " x ", domain);
  };
  if (x.rows != domain) throw ShapeError(cat(shape(), "; x has ", x.rows, " rows"));
  if (y.rows != range) throw ShapeError(cat(shape(), "; y has ", y.rows, " rows"));
  if (x.cols != y.cols)
    throw ShapeError(cat(name(), ": x has ", x.cols, " columns, y has ", y.cols));
  if (x.space != ctx.space() || y.space != ctx.space())
    throw ShapeError(cat(name(), ": x is in ", tcsolve::name(x.space), " memory, y in ",
                         tcsolve::name(y.space), " memory, the Context computes on ",
                         tcsolve::name(ctx.space())));
  if (overlap<T>(x, y))
    throw ShapeError(cat(name(), ": x and y overlap; give y memory of its own"));
  if (op == Op::transpose && !traits().transpose) throw Unsupported(cat(name(), ": transpose"));
}

template <class T>
void LinearOperator<T>::apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  if (op == Op::adjoint) op = Op::transpose;  // of real numbers
  check_operands(ctx, x, y, op);
  if (is_nothing(ctx, y)) return;
  Context::Entry const entry(ctx);
  auto apply_now = [=, this](Context& c) {
    Range const range(c, [this] { return name() + ".apply"; });
    do_apply(c, alpha, x, beta, y, op);
  };
  if (traits().operations) return apply_now(ctx);
  ctx.submit("apply", apply_now, traits().capturable);
}

template <class T>
void LinearOperator<T>::check_square(char const* wanted) const {
  if (rows_ != cols_)
    throw ShapeError(
        cat(name(), " is ", rows_, " x ", cols_, "; ", wanted, " needs a square operator"));
}

template <class T>
void LinearOperator<T>::apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  check_operands(ctx, x, y, Op::none);
  check_square("<x, A x>");
  if (!x.is_vector() || !y.is_vector())
    throw ShapeError(cat(name(), ": apply_dot takes one column of adjacent entries; x and y have ",
                         x.cols, " columns, strides ", x.ld, " and ", y.ld));
  Context::Entry const entry(ctx);
  auto apply_now = [=, this](Context& c) {
    Range const range(c, [this] { return name() + ".apply_dot"; });
    do_apply_dot(c, alpha, x, y, sigma);
  };
  if (traits().operations) return apply_now(ctx);
  ctx.submit("apply_dot", apply_now, traits().capturable);
}

template <class T>
void LinearOperator<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                     double* sigma) const {
  if (!is_nothing(ctx, y)) do_apply(ctx, alpha, x, T(0), y, Op::none);
  dot<T>(ctx, x, y, sigma);
}

template <class T>
void LinearOperator<T>::apply_then(Context& ctx, T alpha, In<T> x, T beta, Out<T> y,
                                   SmoothingStep<T> step) const {
  step.n = y.size(), step.r = In<T>(y);
  auto const apart = [=, this](Context& c) {
    apply(c, alpha, x, beta, y);
    submit(c, step);
  };
  Traits const all = traits();
  if (!all.ends_in_steps || ctx.device() == nullptr || !x.is_vector() || !y.is_vector())
    return apart(ctx);
  check_operands(ctx, x, y, Op::none);
  if (is_nothing(ctx, y)) return;
  Context::Entry const entry(ctx);
  auto const at_once = [=, this](Context& c) {
    Range const range(c, [this] { return name() + ".apply"; });
    do_apply_then(c, alpha, x, beta, y, step);
  };
  ctx.submit_pass("apply_then", at_once, all.capturable, apart);
}

template <class T>
void LinearOperator<T>::apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  check_operands(ctx, X, Y, Op::none);
  check_square("X^T A X");
  if (!std::is_same_v<T, double>) throw Unsupported(cat(name(), ": apply_gram is in FP64"));
  if (X.layout != Layout::row_major || Y.layout != Layout::row_major || X.cols > most_block_columns)
    throw Unsupported(cat(name(), ": apply_gram takes row-major blocks of at most ",
                          most_block_columns, " columns; X and Y have ", X.cols,
                          X.layout == Y.layout && X.layout == Layout::row_major
                              ? ""
                              : ", and one of them is column-major"));
  if (X.cols == 0) return;
  Context::Entry const entry(ctx);
  auto apply_now = [=, this](Context& c) {
    Range const range(c, [this] { return name() + ".apply_gram"; });
    do_apply_gram(c, alpha, X, Y, G);
  };
  if (traits().operations) return apply_now(ctx);
  ctx.submit("apply_gram", apply_now, traits().capturable);
}

template <class T>
void LinearOperator<T>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  if (!is_nothing(ctx, Y)) do_apply(ctx, alpha, X, T(0), Y, Op::none);
  if constexpr (std::is_same_v<T, double>) gram(ctx, X, Y, G);
}

template <class T>
void LinearOperator<T>::check_residual(Context& ctx, In<T> b, In<T> x, Out<T> r) const {
  for (auto [v, its_name] : {std::pair{b, "b"}, std::pair{In<T>(r), "r"}})
    if (v.rows != rows_)
      throw ShapeError(
          cat(name(), " is ", rows_, " x ", cols_, "; ", its_name, " has ", v.rows, " rows"));
  if (b.cols != r.cols)
    throw ShapeError(cat(name(), ": b has ", b.cols, " columns, r has ", r.cols));
  if (b.space != ctx.space())
    throw ShapeError(cat(name(), ": b is in ", tcsolve::name(b.space),
                         " memory, the Context computes on ", tcsolve::name(ctx.space())));
  if (b.data != r.data && overlap<T>(b, r))
    throw ShapeError(cat(name(), ": b and r overlap; give r memory of its own, or that of b"));
  check_operands(ctx, x, r, Op::none);
}

template <class T>
void LinearOperator<T>::residual(Context& ctx, In<T> b, In<T> x, Out<T> r) const {
  check_residual(ctx, b, x, r);
  Context::Entry const entry(ctx);
  copy<T, T>(ctx, b, r);
  apply(ctx, T(-1), x, T(1), r);
}

template <class T>
void LinearOperator<T>::exact_residual(Context& ctx, In<T> b, In<T> x, Out<T> r,
                                       RowSizes const& sizes) const {
  if constexpr (std::is_same_v<T, double>) {
    check_residual(ctx, b, x, r);
    if (sums_exactly() && b.is_vector() && x.is_vector() && r.is_vector()) {
      Context::Entry const entry(ctx);
      constexpr bool capturable = false;  // the first product may analyse row lengths on the host
      ctx.submit(
          "exact_residual",
          [=, this](Context& c) {
            Range const range(c, [this] { return name() + ".exact_residual"; });
            if (!is_nothing<double>(c, r))
              do_exact_residual(
                  c, {b.data, x.data, r.data, nullptr, nullptr, sizes.size, sizes.weight});
          },
          capturable);
      return;
    }
  }
  residual(ctx, b, x, r);
}

template class LinearOperator<double>;
template class LinearOperator<float>;

}  // namespace tcsolve
