// SPDX-License-Identifier: Apache-2.0
/// What every iterative solver is: a method that improves a correction, and a driver that judges
/// it.
///
///     Cg<double> solver({.stopping = {.rtol = 1e-10}});
///     solver.setup(ctx, A, M);                   // sizes work vectors, records the step
///     SolveReport report = solver.solve(b, x);   // as often as you like; x is the initial guess
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/core/error.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/solvers/framing.hpp>
#include <tcsolve/solvers/in_turn.hpp>
#include <tcsolve/solvers/report.hpp>
#include <tcsolve/solvers/stopping.hpp>

namespace tcsolve {

/// What a solver takes beside A and M, for estimates of memory and bytes.
struct SolverCost {
  double vectors = 0;       ///< of the length of x or b, allocated by setup()
  double products = 1;      ///< with A or A^T, an iteration
  double applications = 1;  ///< of M, an iteration
  double passes = 0;  ///< vectors read or written by the other operations, an iteration, on average
  bool transpose = false;  ///< products with A^T are among them, which few formats offer
};

/// What ends a solve whatever its residual.
struct SolveLimits {
  double iterations = std::numeric_limits<double>::infinity();
  double seconds = std::numeric_limits<double>::infinity();
};

/// What a method takes for granted of A.
struct SolverNeeds {
  bool symmetric = false;
  bool definite = false;             ///< symmetric positive definite
  bool fixed_preconditioner = true;  ///< of M: that it is the same linear map in every iteration
};

/// What a solver that needs such an M is told of another one.
inline std::string warning_of_varying(std::string const& solver) {
  return cat(solver,
             " needs a preconditioner that is the same linear map in every iteration; an inner "
             "solver is none, nor is a K cycle of amg; use fgmres, or cg with `beta: flexible`");
}

class Solver {
 public:
  virtual ~Solver() = default;
  Solver() = default;
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  /// The order and the nullspace of the systems of later setup() calls, whose operators are in the
  /// new numbers; b and x stay the caller's (solvers/driver/solve_frame.hpp). Throws Unsupported
  /// where the solver knows of none.
  virtual void frame(Framing framing) {
    if (framing.order || !framing.nullspace.empty())
      throw Unsupported(cat(name(), ": an order or a nullspace around it"));
  }
  /// Prepares for solving A x = b with the preconditioner M (null: none); M approximates A^-1.
  /// A_true is the system that `converged` speaks of, for an A that is a rounded copy of it (null:
  /// A itself). Throws ShapeError, Unsupported; MemoryError when the work vectors do not fit.
  /// The Context must outlive the solver.
  virtual void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
                     OperatorPtr<double> A_true = nullptr) = 0;

  /// x <- an approximation of A^-1 b; x is the initial guess and keeps the best iterate whatever
  /// the outcome. b and x are single columns, in the Context's space or on the host, and are used
  /// in place. Throws ShapeError; what an operator throws passes through and leaves x as it was at
  /// the last restart. Cost: one product with A_true more than the iterations' own, per restart.
  virtual SolveReport solve(In<double> b, Out<double> x) = 0;

  /// The same for every column of b and x, with a report for each, whatever ends the solve. A
  /// solver of blocks (columns_at_once() > 1) iterates them together; any other takes them in turn,
  /// within one time limit (solvers/in_turn.hpp). Throws ShapeError where b and x differ in their
  /// columns or before setup().
  virtual std::vector<SolveReport> solve_columns(In<double> b, Out<double> x) {
    if (context() == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
    return solve_in_turn(*context(), limits().seconds, name(), b, x,
                         [this](In<double> bj, Out<double> xj) { return solve(bj, xj); });
  }
  /// Columns that solve_columns() iterates together, at most.
  virtual Index columns_at_once() const { return 1; }

  /// x <- what the method makes of b from x = 0, for use as a preconditioner: its last iterate,
  /// whatever ended it, and 0 when it made no step. Nothing is verified and nothing given up: the
  /// method stops by its own account of rtol and atol, by max_iters or time_limit, or where it
  /// breaks down; `reason` says which and true_residual is NaN. However loose the tolerance, one
  /// step is made. An infinite or NaN b is handed back as x. b and x are single columns in the
  /// Context's space, their entries adjacent. Throws ShapeError, and what an operator throws. Cost:
  /// the iterations, one product more per restart, two norms.
  virtual SolveReport approximate(In<double> b, Out<double> x) = 0;

  /// Before the first setup(): takes work space over from `other`, a solver of the same Context
  /// that is never at work while this one is, where both are of one kind; it stays the other's as
  /// well.
  virtual void share(Solver const& /*other*/) {}

  virtual std::string name() const = 0;
  /// The Context of the last setup() that has succeeded; null before.
  virtual Context* context() const = 0;
  virtual SolverCost cost() const { return {}; }
  virtual SolveLimits limits() const { return {}; }
  /// The keys that solves stop by; null for a solver that has rules of its own.
  virtual StoppingParams const* stops_by() const { return nullptr; }
  /// Other keys for the solves that follow, before or after setup(), which is not repeated: the
  /// iterates have the bits of a solver made with these keys. The keys must be valid (`checked`,
  /// configs/schema/checked.hpp). Throws Unsupported where stops_by() is null. Cost: none.
  virtual void stop_by(StoppingParams const&) {
    throw Unsupported(
        cat(name(), ": a tolerance or a limit for one solve; it has rules of its own"));
  }
  virtual SolverNeeds needs() const { return {}; }
  /// The type of its own vectors. An A that has FP32 vectors by nature is then multiplied without a
  /// copy of them (LinearOperator::on_floats()).
  virtual Real vectors() const { return Real::f64; }
  /// Where its vectors or A are narrow, it makes r anew while it goes on (KrylovSolver::renew).
  virtual bool renews() const { return false; }
  /// What A is to be stored in for it, where the method says so itself: FP64 is the type of the
  /// system that it is judged by.
  virtual std::optional<Real> values() const { return std::nullopt; }
  /// What to try next where this method has advice of its own; the others get the general advice
  /// (solvers/report.hpp).
  virtual Advice advice() const { return no_advice; }
  /// Whether many small systems can be solved by it at once (solvers/driver/batch.hpp).
  virtual bool batches() const { return false; }
  /// Whether a device could run what setup() has recorded as one kernel, where the system is small
  /// enough and `execution` does not say otherwise.
  virtual bool one_kernel() const { return false; }
};

}  // namespace tcsolve
