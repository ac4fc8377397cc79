// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/learn.hpp>

#include <memory>
#include <utility>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/precond/amg/cycle.hpp>

namespace tcsolve {
namespace {

/// Ten steps of X = orthonormal(X - M A X) from random ones.
void iterate(Context& ctx, LinearOperator<double> const& A, LinearOperator<double> const& M,
             Out<double> X) {
  constexpr int cycles = 10;
  constexpr std::uint64_t stream = 65;
  Index const n = X.rows, k = X.cols;
  auto scope = ctx.arena().scope();
  Out<double> const Y = scope.vectors<double>(n, k);
  auto const small = std::size_t(k) * k;
  double *const G = scope.take<double>(small), *const T = scope.take<double>(small),
                *const flags = scope.take<double>(3);
  submit(ctx, Random<double>{X.size(), ctx.options().seed + stream, X.data});
  for (int cycle = 0; cycle < cycles; ++cycle) {
    ctx.cancel_flag().check();
    A.apply(ctx, X, Y);
    M.apply(ctx, -1, Y, 1, X);
    orthonormalise(ctx, X, G, {.T = T, .again = flags, .rank = flags + 2}, Y);
    copy<double, double>(ctx, Y, X);
  }
}

}  // namespace

NearNullspace learned(Context& ctx, System const& system, AmgParams const& params,
                      NearNullspace given) {
  Index const n = system.matrix.rows, k = params.near_nullspace.learn;
  Context::Entry const entry(ctx);
  NearNullspace made;
  made.block = given.block, made.count = given.count + k;
  made.vectors = Array<double>(ctx.space(), std::size_t(n) * made.count);
  auto const place = [&](Array<double> const& from, Index columns, Index first) {
    ctx.visit([&](auto& on) {
      place_columns(on, ctx.arena(), n, from.data(), columns, made.vectors.data(), first,
                    made.count);
    });
  };
  Index const before = given.count;
  place(given.vectors, before, 0);
  AmgParams first = params;
  first.near_nullspace.learn = 0;
  first.overcorrection = 1;  // cycles here are an iteration of their own, which it may let grow
  first.values = AmgValues::f64, first.vectors = AmgVectors::f64;
  auto const hierarchy = std::make_shared<AmgHierarchy>(
      ctx, system, first, amg_start(ctx, system, first, std::move(given)), AmgPlans::ended);
  Array<double> X(ctx.space(), std::size_t(n) * k);
  iterate(ctx, *system.A, AmgCycle(ctx, hierarchy),
          {X.data(), n, k, k, Layout::row_major, ctx.space()});
  place(X, k, before);
  made.ratios = cancellation(ctx, system.matrix, made.vectors.data(), made.count);
  return made;
}

}  // namespace tcsolve
