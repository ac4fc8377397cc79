// SPDX-License-Identifier: Apache-2.0
/// The recurrences of a block method, which improves several columns at once, without the verdicts
/// on them. The driver (solvers/driver/block_solver.hpp) owns the method and passes it a block of
/// residuals R; the method solves A X = R from X = 0:
///
///     allocate    work vectors, for a number of columns
///     begin       from R to the first step
///     resume      from an R that was made anew, where columns go on with their directions
///     step        one iteration, recorded once and repeated by a loop (solvers/loop/)
///     complete    what is missing of X
///
/// Nothing in begin(), resume(), step() and complete() reads a number on the host. Scalars are
/// FP64.
#pragma once

#include <algorithm>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/solvers/driver/column_runs.hpp>
#include <tcsolve/solvers/driver/method.hpp>

namespace tcsolve {

/// What a block method works on: made by the driver, for operators and columns of size about 1. T
/// is the type of the method's vectors.
template <class T>
struct BlockSystem {
  OperatorPtr<T> A, M;          ///< M: the identity where there is no preconditioner
  bool preconditioned = false;  ///< M is more than the identity
  MultiVector<T> R;             ///< (n, w) given to begin(), and the method's from then on
  MultiVector<T> X;             ///< (n, w) 0 at begin(), the solution of A X = R after complete()
  /// (w) squares of what the norms of R's columns are to fall to, in the Context's space.
  Array<double> goal2;
  Array<ColumnStart> starts;  ///< (w) of resume(), in the Context's space
  double norm_A = 0;          ///< ||A||, estimated; 0 where it is not known
  bool parts = false;  ///< R's columns are parts of one vector: the norm of their sum is monitored
  Index attempt = 0;   ///< runs before this one in the solve at hand
  Index columns() const { return R.cols(); }
  /// Relative to ||A|| ||p||^2, the rounding of <p, A p>: below it a curvature has no sign.
  double roundoff_of_curvature() const {
    Precision const of_A = A->traits().precision;
    return std::max({roundoff(real_of<T>), roundoff(of_A.storage), roundoff(of_A.multiply)});
  }
};

/// How a column of a run ended where columns end by themselves; Stop::running: with the loop.
struct ColumnEnd {
  Stop stop = Stop::running;
  Cause cause = Cause::none;
  double value = 0;     ///< the number that raised the stop
  Index steps = 0;      ///< that the column has made
  double measure2 = 0;  ///< its ||r||^2 over the square of its goal, by the method's account
};

template <class T>
class BlockMethod {
 public:
  virtual ~BlockMethod() = default;
  BlockMethod() = default;
  BlockMethod(BlockMethod const&) = delete;
  BlockMethod& operator=(BlockMethod const&) = delete;
  virtual MethodFacts facts() const = 0;

  /// Sizes the work vectors for the columns of `system`, which stays where it is. Returns where the
  /// largest ||r_j||^2 / goal_j^2 will lie, which ends the loop at 1.
  double const* allocate(Context& ctx, BlockSystem<T>& system) {
    system_ = &system;
    return do_allocate(ctx);
  }
  virtual void begin(Context&) = 0;
  /// Of a method that renews (MethodFacts::renews), in place of begin(): R is what the true
  /// residuals are, X = 0, and system().starts says how each column begins.
  virtual void resume(Context&) {}
  /// Ends in observe(). May raise Stop::replacement, before it changes anything, where some columns
  /// are there and the others have each improved and are better off as a block of their own.
  virtual void step(Context&) = 0;
  /// Completes X from what the steps made, as operations only.
  virtual void complete(Context&) {}
  /// Refines the reason of a stop, after a run, on the host.
  virtual void classify_stop(Context&, LoopState&) {}
  /// After a run, on the host: how each column ended; none where they end together.
  virtual std::vector<ColumnEnd> column_ends(Context&) const { return {}; }
  /// As Method::seen_condition(), by the first column.
  virtual double seen_condition(Context&) { return 0; }

 protected:
  BlockSystem<T>& system() const { return *system_; }

 private:
  virtual double const* do_allocate(Context&) = 0;
  BlockSystem<T>* system_ = nullptr;
};

}  // namespace tcsolve
