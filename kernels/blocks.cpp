// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/blocks.hpp>

#include <tcsolve/kernels/tsqr.hpp>

namespace tcsolve {

namespace {

template <class T>
constexpr Index most_columns = std::is_same_v<T, double> ? most_block_columns : 16;

template <class T>
void require_block(MultiView<T const> const& v) {
  if (v.cols > most_columns<T> || v.layout != Layout::row_major)
    throw Unsupported(cat("blocks of vectors are row-major with at most ", most_columns<T>,
                          " columns; this one has ", v.cols,
                          v.layout == Layout::row_major ? "" : ", column-major"));
}

/// C = X^T Y.
template <class T>
void multiply(Context& ctx, In<T> X, In<T> Y, double* C, double const* wanted) {
  require_block(X);
  require_block(Y);
  auto const partials =
      ctx.visit([&](auto& on) { return gram_partials(on, X.rows, X.cols, Y.cols); });
  auto scope = ctx.arena().scope();
  double* const memory = scope.take<double>(static_cast<std::size_t>(partials));
  submit(ctx, BlockGram<T>{X.rows, X.data, Y.data, X.cols, Y.cols, X.ld, Y.ld, C, memory, wanted});
}

}  // namespace

void gram(Context& ctx, In<double> X, In<double> Y, double* C, double const* wanted) {
  multiply<double>(ctx, X, Y, C, wanted);
}

void gram(Context& ctx, In<float> X, In<float> Y, double* C) {
  multiply<float>(ctx, X, Y, C, nullptr);
}

void gram(Context& ctx, In<double> X, In<double> Y, double* C, In<double> Z, double* D) {
  for (In<double> const& v : {X, Y, Z}) require_block(v);
  if (Z.cols != Y.cols || Z.ld != Y.ld)
    throw ShapeError(cat("gram: Y has ", Y.cols, " columns, ", Y.ld, " apart, Z ", Z.cols, ", ",
                         Z.ld, " apart"));
  auto const partials =
      ctx.visit([&](auto& on) { return 2 * gram_partials(on, X.rows, X.cols, Y.cols); });
  auto scope = ctx.arena().scope();
  BlockGram<double> op{X.rows, X.data, Y.data,
                       X.cols, Y.cols, X.ld,
                       Y.ld,   C,      scope.take<double>(static_cast<std::size_t>(partials)),
                       nullptr};
  op.Z = Z.data, op.D = D;
  submit(ctx, op);
}

void combine(Context& ctx, double alpha, In<double> X, double const* C, double const* S,
             Out<double> Y, double const* wanted) {
  require_block(X);
  require_block<double>(Y);
  submit(ctx, BlockCombine<double>{Y.rows, X.data, X.cols, Y.cols, X.ld, alpha, C, S, Y.data, Y.ld,
                                   wanted});
}

void combine(Context& ctx, In<double> X, double const* C, double const* S, Out<double> Y,
             double const* D, double const* U, Out<double> V) {
  for (In<double> const& v : {X, In<double>(Y), In<double>(V)}) require_block(v);
  if (V.cols != Y.cols || V.ld != Y.ld || V.rows != Y.rows)
    throw ShapeError(cat("combine: Y is ", Y.rows, " x ", Y.cols, ", V ", V.rows, " x ", V.cols));
  BlockCombine<double> op{Y.rows, X.data, X.cols, Y.cols, X.ld, 1, C, S, Y.data, Y.ld, nullptr};
  op.D = D, op.U = U, op.V = V.data;
  submit(ctx, op);
}

template <class T>
void gram(Context& ctx, BlockBasis<T> const& X, Index p, In<std::type_identity_t<T>> Y, double* C) {
  require_block(Y);
  auto const partials = ctx.visit([&](auto& on) { return gram_partials(on, Y.rows, p, Y.cols); });
  auto scope = ctx.arena().scope();
  double* const memory = scope.take<double>(static_cast<std::size_t>(partials * X.most));
  submit(ctx, BlockGram<T>{Y.rows, X.data, Y.data, p, Y.cols, p, Y.ld, C, memory, nullptr, X.most,
                           X.stride, X.count});
}

template <class T>
void combine(Context& ctx, double alpha, BlockBasis<T> const& X, Index p, double const* C,
             std::type_identity_t<T> const* S, Out<std::type_identity_t<T>> Y) {
  require_block<T>(Y);
  submit(ctx, BlockCombine<T>{Y.rows, X.data, p, Y.cols, p, alpha, C, S, Y.data, Y.ld, nullptr,
                              X.most, X.stride, X.count});
}

#define TCSOLVE_BASIS(T)                                                                           \
  template void gram<T>(Context&, BlockBasis<T> const&, Index, In<T>, double*);                    \
  template void combine<T>(Context&, double, BlockBasis<T> const&, Index, double const*, T const*, \
                           Out<T>);
TCSOLVE_BASIS(double)
TCSOLVE_BASIS(float)
#undef TCSOLVE_BASIS

void orthonormalise(Context& ctx, In<double> W, double* G, OrthonormalBlock const& to,
                    Out<double> P) {
  Index const w = W.cols;
  gram(ctx, W, W, G);
  submit(ctx, OrthonormaliseRound{w, false, G, to});
  combine(ctx, 1, W, to.T, nullptr, P);
  gram(ctx, P, P, G, to.again);
  submit(ctx, OrthonormaliseRound{w, true, G, to});
  combine(ctx, 1, P, to.T, nullptr, P, to.again);
  householder_basis(ctx, W, OrthonormalBlock::dependent, to.rank, P, to.again + 1, to.floor);
}

}  // namespace tcsolve
