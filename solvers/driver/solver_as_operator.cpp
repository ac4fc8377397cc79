// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/solver_as_operator.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>

namespace tcsolve {

namespace {

bool stopped(Context& ctx, LoopState const* loop) {
  if (loop == nullptr) return false;
  std::int32_t stop = 0;
  copy_bytes(ctx, &stop, Space::host, &loop->stop, ctx.space(), sizeof stop);
  return stop != 0;
}

}  // namespace

void SolverOperator::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                              Op) const {
  LoopState* const outer = ctx.loop();
  if (stopped(ctx, outer)) return;  // what is left of a step that has ended
  auto scope = ctx.arena().scope();
  Out<double> b = scope.vector<double>(x.rows), solution = scope.vector<double>(x.rows);
  // The operations of the inner solve belong to its own loop, not to the one around this
  // application.
  ctx.within(nullptr, [&] {
    for (Index j = 0; j < x.cols; ++j) {
      copy<double, double>(ctx, column(x, j), b);
      SolveReport const report = solver_->approximate(b, solution);
      ctx.count_inner(report.iterations + report.inner_iterations, report.bytes);
      judge(ctx, outer, report, solution);
      axpby<double, double>(ctx, alpha, solution, beta, column(y, j));
    }
  });
}

/// Ends the loop around the application where the solution is nothing to go on with.
void SolverOperator::judge(Context& ctx, LoopState* outer, SolveReport const& report,
                           In<double> solution) const {
  auto raise = [&](Stop stop, Cause cause) {
    if (outer == nullptr) return;
    ctx.within(outer, [&] { submit(ctx, Raise{.stop = stop, .cause = cause}); });
  };
  if (Stop const asked = ctx.asked(); asked != Stop::running) return raise(asked, Cause::none);
  if (report.cause == Cause::zero_rhs || report.cause == Cause::rhs) return;
  double const size = largest<double>(ctx, solution);
  if (size > 0 && std::isfinite(size)) return;
  ctx.complain(cat("the inner solver ", solver_->name(), " gave ",
                   size == 0 ? "zero" : "no finite vector", ": ", report.outcome(), " after ",
                   report.iterations, report.iterations == 1 ? " iteration" : " iterations",
                   report.inner.empty() ? "" : cat("; ", report.inner)));
  raise(Stop::breakdown, Cause::inner_solver);
}

}  // namespace tcsolve
