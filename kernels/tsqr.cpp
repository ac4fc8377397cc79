// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/tsqr.hpp>

namespace tcsolve {

void householder_basis(Context& ctx, In<double> W, double drop, double* rank, Out<double> P,
                       double const* wanted, double const* floor) {
  require_one_rank(ctx, "a QR factorisation of strips");  // which ends in a tree, not in sums
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
  submit(ctx, TsqrRoot{q, drop, rank, floor});
  submit(ctx, TsqrForm{q, P.data, P.ld});
}

}  // namespace tcsolve
