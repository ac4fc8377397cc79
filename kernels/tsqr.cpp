// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/tsqr.hpp>

#include <tcsolve/kernels/blocks.hpp>

namespace tcsolve {
namespace {

/// The root of several ranks: q.C from q.R, which all have made of their strips.
void root_over_ranks(Context& ctx, Tsqr const& q, double drop, double* rank, double const* floor) {
  Index const w = q.w, ranks = ctx.communicator().ranks(), mine = ctx.communicator().rank();
  auto scope = ctx.arena().scope();
  auto take = [&](std::int64_t count) {
    return scope.take<double>(static_cast<std::size_t>(count * w));
  };
  std::int64_t const stack = std::int64_t{ranks} * w;
  double *const told = take(stack), *const E = take(w);
  Tsqr const root{stack,
                  w,
                  ranks,
                  nullptr,
                  scope.take<Reflection>(static_cast<std::size_t>(stack + 2 * w)),
                  take(stack),
                  take(stack),
                  take(2 * std::int64_t{w}),
                  q.wanted};
  submit(ctx, TsqrReduce{q, mine, ranks, told, E});
  auto const partials = ctx.visit([&](auto& on) { return gram_partials(on, w, w, w); });
  submit(ctx, BlockGram<double>{w, told, E, w, w, w, w, root.R,
                                scope.take<double>(static_cast<std::size_t>(partials * ranks)),
                                q.wanted, ranks, std::int64_t{w} * w});
  submit(ctx, TsqrRoot{root, drop, rank, floor});
  submit(ctx, TsqrSpread{q, root.C + std::int64_t{mine} * w * w});
}

}  // namespace

void householder_basis(Context& ctx, In<double> W, double drop, double* rank, Out<double> P,
                       double const* wanted, double const* floor) {
  Index const w = W.cols;
  Index const strips = ctx.visit([&](auto& on) { return tsqr_strips(on, W.rows, w); });
  auto scope = ctx.arena().scope();
  auto take = [&](std::int64_t count) {
    return scope.take<double>(static_cast<std::size_t>(count * w));
  };
  std::int64_t const stack = std::int64_t{strips} * w;
  std::int64_t const reflections = std::int64_t{strips} + 2;
  Tsqr const q{W.rows,
               w,
               strips,
               take(W.rows),
               scope.take<Reflection>(static_cast<std::size_t>(reflections * w)),
               take(stack),
               take(stack),
               take(2 * std::int64_t{w}),
               wanted};
  submit(ctx, TsqrLeaves{q, W.data, W.ld});
  if (ctx.communicator().extends_sums())
    root_over_ranks(ctx, q, drop, rank, floor);
  else
    submit(ctx, TsqrRoot{q, drop, rank, floor});
  submit(ctx, TsqrForm{q, P.data, P.ld});
}

}  // namespace tcsolve
