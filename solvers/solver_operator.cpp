// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/solver_operator.hpp>

#include <tcsolve/solvers/register.hpp>

namespace tcsolve {

void SolverOperator::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                              Op) const {
  auto scope = ctx.arena().scope();
  Out<double> b = scope.vector<double>(x.rows), solution = scope.vector<double>(x.rows);
  // The verbs of the inner solve belong to its own loop, not to the one around this application.
  ctx.within(nullptr, [&] {
    for (Index j = 0; j < x.cols; ++j) {
      In<double> xj{x.data + x.offset(0, j), x.rows, 1, x.layout == Layout::row_major ? x.ld : 1,
                    Layout::row_major,       x.space};
      Out<double> yj{y.data + y.offset(0, j), y.rows, 1, y.layout == Layout::row_major ? y.ld : 1,
                     Layout::row_major,       y.space};
      copy<double, double>(ctx, xj, b);
      fill<double>(ctx, solution, 0);
      solver_->solve(b, solution);
      axpby<double, double>(ctx, alpha, solution, beta, yj);
    }
  });
}

OperatorPtr<double> SolverOperatorFactory::build(Context& ctx, System const& system) const {
  OperatorPtr<double> M = make<PreconditionerRegistry>(params_.preconditioner)->build(ctx, system);
  std::shared_ptr<Solver> solver = make<SolverRegistry>(params_.solver);
  solver->setup(ctx, system.A, std::move(M));
  return std::make_shared<SolverOperator>(std::move(solver), system.A->rows());
}

}  // namespace tcsolve
