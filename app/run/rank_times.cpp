// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/rank_times.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {
namespace {

/// x of the columns of a rank, y of its rows, a number.
struct Workspace {
  Out<double> x, y;
  double* value;
};

/// Of what judges x in a solve, where that is still there.
std::optional<Workspace> workspace(Arena::Scope& scope, DistributedOperator const& A) {
  try {
    return Workspace{scope.vector<double>(A.cols()), scope.vector<double>(A.rows()),
                     scope.take<double>(1)};
  } catch (MemoryError const&) { return std::nullopt; }
}

}  // namespace

RankTimes time_parts(LinearSolver& solver, double solve) {
  Context& ctx = solver.context();
  Ranks& ranks = all_ranks(ctx);
  auto const A = std::dynamic_pointer_cast<DistributedOperator const>(solver.A());
  std::optional<Workspace> work;
  auto scope = ctx.arena().scope();
  if (A) work = workspace(scope, *A);
  if (ranks.agree(!work)) return {};
  In<double> const x = work->x;
  Out<double> const y = work->y;
  fill<double>(ctx, work->x, 1);

  auto const product = [&] { alone(ctx, [&] { A->own().apply(ctx, 1.0, x, 0.0, y); }); };
  auto const whole = [&] { A->apply(ctx, 1.0, x, 0.0, y); };
  auto const sum = [&] { dot<double>(ctx, y, y, work->value); };
  auto const sum_alone = [&] { alone(ctx, sum); };
  /// The least of three batches that all begin together.
  auto const least_of = [&](auto const& f, int times) {
    double least = std::numeric_limits<double>::infinity();
    f();
    for (int batch = 0; batch < 3; ++batch) {
      ctx.synchronize();
      barrier(ranks);
      auto const start = std::chrono::steady_clock::now();
      for (int k = 0; k < times; ++k) f();
      ctx.synchronize();
      least = std::min(least, seconds_since(start) / times);
    }
    return least;
  };

  double const once = ranks.agree(least_of(whole, 1));
  double const room = ranks.agree(std::clamp(0.02 * solve, 1e-4, 0.02));
  int const times = std::clamp(static_cast<int>(room / (12 * std::max(once, 1e-9))), 3, 200);
  RankTimes out;
  out.product = least_of(product, times);
  double const slowest = ranks.agree(out.product);
  out.waiting = slowest - out.product;
  out.halo = std::max(0.0, ranks.agree(least_of(whole, times)) - slowest);
  double const apart = ranks.agree(least_of(sum_alone, times));
  out.sum = std::max(0.0, ranks.agree(least_of(sum, times)) - apart);
  return out;
}

}  // namespace tcsolve
