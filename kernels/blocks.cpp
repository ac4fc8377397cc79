// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/blocks.hpp>

#include <tcsolve/kernels/tsqr.hpp>

namespace tcsolve {

namespace {

void require_block(In<double> v) {
  if (v.cols > most_block_columns || v.layout != Layout::row_major)
    throw Unsupported(cat("blocks of vectors are row-major with at most ", most_block_columns,
                          " columns; this one has ", v.cols,
                          v.layout == Layout::row_major ? "" : ", column-major"));
}

}  // namespace

void gram(Context& ctx, In<double> X, In<double> Y, double* C, double const* wanted) {
  require_block(X);
  require_block(Y);
  auto const partials =
      ctx.visit([&](auto& on) { return gram_partials(on, X.rows, X.cols, Y.cols); });
  auto scope = ctx.arena().scope();
  double* const memory = scope.take<double>(static_cast<std::size_t>(partials));
  submit(ctx, BlockGram{X.rows, X.data, Y.data, X.cols, Y.cols, X.ld, Y.ld, C, memory, wanted});
}

void gram(Context& ctx, In<double> X, In<double> Y, double* C, In<double> Z, double* D) {
  for (In<double> const& v : {X, Y, Z}) require_block(v);
  if (Z.cols != Y.cols || Z.ld != Y.ld)
    throw ShapeError(cat("gram: Y has ", Y.cols, " columns, ", Y.ld, " apart, Z ", Z.cols, ", ",
                         Z.ld, " apart"));
  auto const partials =
      ctx.visit([&](auto& on) { return 2 * gram_partials(on, X.rows, X.cols, Y.cols); });
  auto scope = ctx.arena().scope();
  BlockGram op{X.rows, X.data, Y.data,
               X.cols, Y.cols, X.ld,
               Y.ld,   C,      scope.take<double>(static_cast<std::size_t>(partials)),
               nullptr};
  op.Z = Z.data, op.D = D;
  submit(ctx, op);
}

void combine(Context& ctx, double alpha, In<double> X, double const* C, double const* S,
             Out<double> Y, double const* wanted) {
  require_block(X);
  require_block(Y);
  submit(ctx,
         BlockCombine{Y.rows, X.data, X.cols, Y.cols, X.ld, alpha, C, S, Y.data, Y.ld, wanted});
}

void combine(Context& ctx, In<double> X, double const* C, double const* S, Out<double> Y,
             double const* D, double const* U, Out<double> V) {
  for (In<double> const& v : {X, In<double>(Y), In<double>(V)}) require_block(v);
  if (V.cols != Y.cols || V.ld != Y.ld || V.rows != Y.rows)
    throw ShapeError(cat("combine: Y is ", Y.rows, " x ", Y.cols, ", V ", V.rows, " x ", V.cols));
  BlockCombine op{Y.rows, X.data, X.cols, Y.cols, X.ld, 1, C, S, Y.data, Y.ld, nullptr};
  op.D = D, op.U = U, op.V = V.data;
  submit(ctx, op);
}

void gram(Context& ctx, BlockBasis const& X, Index p, In<double> Y, double* C) {
  require_block(Y);
  auto const partials = ctx.visit([&](auto& on) { return gram_partials(on, Y.rows, p, Y.cols); });
  auto scope = ctx.arena().scope();
  double* const memory = scope.take<double>(static_cast<std::size_t>(partials * X.most));
  submit(ctx, BlockGram{Y.rows, X.data, Y.data, p, Y.cols, p, Y.ld, C, memory, nullptr, X.most,
                        X.stride, X.count});
}

void combine(Context& ctx, double alpha, BlockBasis const& X, Index p, double const* C,
             double const* S, Out<double> Y) {
  require_block(Y);
  submit(ctx, BlockCombine{Y.rows, X.data, p, Y.cols, p, alpha, C, S, Y.data, Y.ld, nullptr, X.most,
                           X.stride, X.count});
}

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
