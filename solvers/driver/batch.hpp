// SPDX-License-Identifier: Apache-2.0
/// Many small independent systems at once.
///
///     CsrBatch systems = batch_of(matrices);                    // of any sizes and patterns
///     BatchSolver solver(std::make_unique<Cg<double>>(CgParams{}));
///     solver.setup(ctx, systems.matrix.view(), systems.starts, &jacobi);
///     BatchReport report = solver.solve(b, x);                  // b and x: the systems end to end
///     if (report.converged() < report.count()) std::cout << report.of(report.worst()).message;
///
/// The method is one of the package's own, recorded once for all systems; what the driver does
/// around it (solvers/driver/krylov_solver.hpp) runs as operations too
/// (solvers/driver/judge_ops.hpp), so that `converged` means the same as everywhere: the true
/// residual of that system, in FP64.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/csr_batch.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/driver/batch_report.hpp>
#include <tcsolve/solvers/driver/krylov_solver.hpp>
#include <tcsolve/solvers/loop/batch.hpp>

namespace tcsolve {

class BatchSolver {
 public:
  /// A method of which Solver::batches() is true. Throws Unsupported for any other, which needs the
  /// host between its steps.
  explicit BatchSolver(std::unique_ptr<Solver> method);

  /// `a` is block diagonal, in the Context's space or on the host; system k has the rows and the
  /// columns [starts[k], starts[k + 1]). The preconditioner is made from `a` as a whole: none,
  /// jacobi, or block_jacobi with blocks that end where systems do. Throws ShapeError (starts),
  /// MatrixError (an entry couples two systems), Unsupported, SetupError, MemoryError. Cost: one
  /// pass over `a`, the preconditioner's set-up, and the method's and three more vectors. Arrays
  /// that are borrowed, and lie in the Context's space, stay until the next setup().
  void setup(Context&, CsrView<double> const& a, std::vector<Index> const& starts,
             PreconditionerFactory const* preconditioner = nullptr,
             Arrays arrays = Arrays::borrowed);
  /// The same pattern, which is not checked, with new values, and the factory that setup() was
  /// given: what was recorded stays where operators take the values in place. A later solve has the
  /// bits of one after setup(). Throws ShapeError (extents), SetupError, MemoryError; nothing is
  /// set up then. Cost: a copy, and the preconditioner's.
  void update_values(CsrView<double> const& a,
                     PreconditionerFactory const* preconditioner = nullptr);

  /// x <- A^-1 b, system by system; x is the initial guess. b and x are vectors of all rows, on the
  /// host or in the Context's space. A system that fails leaves the others alone. A time limit or
  /// Context::cancel() ends what still runs. The host is not involved before the end.
  BatchReport solve(In<double> b, Out<double> x);

  /// Systems that run at the same time.
  int resident() const;

 private:
  void arrange(Context&, OperatorPtr<double> M);
  void record(Context&);
  std::unique_ptr<Solver> owner_;
  KrylovSolver<double>* solver_;  ///< owner_'s: whose method, facts and limits these are
  MethodSystem<double> system_;   ///< all systems as one
  Method<double>::Workspace workspace_{};
  Context* ctx_ = nullptr;
  std::shared_ptr<CsrOperator<double>> A_;
  OperatorPtr<double> M_;  // null: none
  BatchExtents extents_;
  BatchProgram program_;
  std::vector<std::shared_ptr<Arena>> workspaces_;  // that its operands may lie in
  std::shared_ptr<cuda::BatchKernel> kernel_;
  Vector<double> b_, x_, residual_, trial_, trial_residual_, sizes_;
  Array<SystemState> state_;  // what the recording points to; each team has its own
};

}  // namespace tcsolve
