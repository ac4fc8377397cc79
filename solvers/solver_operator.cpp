// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/solver_operator.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/precond/smoother.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>
#include <tcsolve/solvers/register.hpp>

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

std::string SolverOperatorParams::check() const {
  if (solver.type() == "auto")
    return "auto goes by the entries of the matrix and cannot be an inner solver; name a method, "
           "e.g. gmres";
  return make<SolverRegistry>(solver)->limits().iterations == 0
             ? "an inner solver with 'max_iters' = 0 gives zero for every residual; allow at least "
               "one iteration, or take 'type: none'"
             : "";
}

std::unique_ptr<PreconditionerFactory> SolverOperatorFactory::inner() const {
  return make_smoother(params_.preconditioner);
}

bool SolverOperatorFactory::needs_definite() const {
  SolverNeeds const needs = make<SolverRegistry>(params_.solver)->needs();
  return needs.definite || inner()->needs_definite();
}

double SolverOperatorFactory::vector_bytes(Index rows) const {
  return 8.0 * rows * make<SolverRegistry>(params_.solver)->cost().vectors;
}

double SolverOperatorFactory::bytes(Index rows, Offset entries) const {
  return vector_bytes(rows) + inner()->bytes(rows, entries);
}

double SolverOperatorFactory::most_bytes(Index rows, Offset entries) const {
  return vector_bytes(rows) + inner()->most_bytes(rows, entries);
}

MemoryNeed SolverOperatorFactory::memory(Context& ctx, System const& system) const {
  MemoryNeed need = inner()->memory(ctx, system);
  need.space += vector_bytes(system.A->rows());
  return need;
}

namespace {

/// The inner preconditioner takes new values, and the inner solver is set up anew.
class OwnedSolver final : public Preconditioner {
 public:
  OwnedSolver(Context& ctx, System const& system, std::unique_ptr<Preconditioner> inner,
              Block solver)
      : solver_(std::move(solver)), inner_(std::move(inner)) {
    set_up(ctx, system);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    inner_->update(ctx, system);
    set_up(ctx, system);
  }

 private:
  void set_up(Context& ctx, System const& system) {
    std::shared_ptr<Solver> solver = make<SolverRegistry>(solver_);
    solver->setup(ctx, system.A, inner_->view());
    M_ = std::make_shared<SolverOperator>(std::move(solver), system.A->rows(),
                                          system.A->norm_estimate());
  }
  Block solver_;
  std::unique_ptr<Preconditioner> inner_;
  OperatorPtr<double> M_;
};

}  // namespace

std::unique_ptr<Preconditioner> SolverOperatorFactory::build(Context& ctx,
                                                             System const& system) const {
  return std::make_unique<OwnedSolver>(ctx, system, inner()->build(ctx, system), params_.solver);
}

}  // namespace tcsolve
