// SPDX-License-Identifier: Apache-2.0
/// The recurrences of a Krylov method, without the verdict on x. The driver
/// (solvers/driver/krylov_solver.hpp) owns the method and passes it a residual r; the method solves
/// A x = r from x = 0 and stops by its own monitored norm:
///
///     allocate    work vectors, once a set-up
///     begin       from r to the first step
///     step        one iteration, recorded once and repeated by a loop (solvers/loop/)
///     complete    what is missing of x
///
/// Nothing in begin(), step() and complete() reads a scalar on the host unless documented.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/linear_operator.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/judge_ops.hpp>
#include <tcsolve/solvers/loop/execution.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// The system that a method works on. The driver makes it, scaled by powers of two so that A, M and
/// r are of size 1; the method works on r, x and best.
template <class T>
struct MethodSystem {
  OperatorPtr<T> A;
  OperatorPtr<T> M;             ///< the identity where there is no preconditioner
  OperatorPtr<double> A_true;   ///< computes the true residual
  bool preconditioned = false;  ///< M is more than the identity
  bool rounded = false;         ///< A stores its values in a narrower type than A_true does
  double norm_A = 0;  ///< ||2^exponent A||: ||A_true|| unless rows are scaled; NaN where not known
  int exponent = 0;   ///< A is 2^-exponent times the operator given, its rows scaled or not
  int headroom = 0;   ///< ||r|| is about 2^-headroom as a run begins

  Vector<T> r;     ///< (rows of A) given to begin(), and the method's from then on
  Vector<T> x;     ///< (columns of A) 0 at begin(), the solution of A x = r after complete()
  Vector<T> best;  ///< (columns of A, or none) the x of the smallest norm, where a method keeps it
  bool keeps_best = false;
  T no_row{};  ///< stands for `best` on a rank without rows, which decides as the others do

  /// What a run is to reach, for a method that stops by something other than ||r||.
  struct Goal {
    double tighten = 1;  ///< of its tolerance, after a claim that came too early
    double normal = std::numeric_limits<double>::infinity();  ///< normal_residual() as it begins
    double optimal = 1e-8;  ///< bound on normal_residual() for a least-squares solution
    double noise = 1e-13;   ///< floor of normal_residual() due to rounding
  } goal;

  /// The work vectors for operators A and M (null: none).
  void adopt(Context& ctx, OperatorPtr<T> A_, OperatorPtr<T> M_, OperatorPtr<double> A_true_) {
    A = std::move(A_);
    A_true = std::move(A_true_);
    preconditioned = M_ != nullptr;
    rounded = roundoff_A() > roundoff(A_true->traits().precision.storage);
    M = preconditioned ? std::move(M_) : std::make_shared<Identity<T>>(A->cols());
    r.resize(ctx.space(), A->rows());
    x.resize(ctx.space(), A->cols());
  }
  /// Of the stored entries of A.
  double roundoff_A() const { return roundoff(A->traits().precision.storage); }
  /// Relative to ||A|| ||p||^2, the rounding of <p, A p>: below it a curvature has no sign.
  double roundoff_of_curvature() const {
    return std::max({roundoff(real_of<T>), roundoff_A(), roundoff(A->traits().precision.multiply)});
  }
  /// The size of ||A||; 0 where it is not known.
  double size_A() const {
    double const size = std::ldexp(norm_A, -exponent);
    return std::isfinite(size) ? size : 0.0;
  }
  /// About ||r|| as a run begins: 1, unless A r would leave the range of T.
  double size_r() const { return std::ldexp(1.0, -headroom); }
  /// size_A() for a method without preconditioner, 0 with one.
  double size_A_alone() const { return preconditioned ? 0.0 : size_A(); }
  /// Where x lies, and the place of the best; null where it is not kept.
  T* best_data() {
    if (!keeps_best) return nullptr;
    return best.rows() == 0 ? &no_row : best.view().data;
  }
};

/// What is known of a method once it is made.
struct MethodFacts {
  std::string name;
  SolverCost cost;
  SolverNeeds needs = {};
  Advice advice = no_advice;
  /// Steps between two restarts of the method itself.
  Index cycle = std::numeric_limits<Index>::max();
  double basis_passes = 0;  ///< vectors of a Krylov basis that a step reads, on average
  bool square = true;       ///< A must be
  /// A least-squares solution will do where A is square.
  bool accepts_least_squares = false;
  /// Its arithmetic is homogeneous in A and M under powers of two.
  bool scales_exactly = true;
  /// begin(), step() and complete() consist of operations and do not depend on the size of A: the
  /// method can run in a batch (solvers/driver/batch.hpp), which never involves the host.
  bool batches = false;
  /// The method's norm may fall for long while the true residual does not: the driver looks at the
  /// true residual between pieces of the loop, also at Stop::replacement. complete() may then be
  /// called between two steps.
  bool watched = false;
  /// A step observes no norm of its own; the true residual after it, which the driver evaluates
  /// anyway (cycle = 1), is what the history has.
  bool unobserved = false;
  /// What A is to be stored in, and the vectors that it multiplies, where that is not T: of a
  /// method that leaves its products to another one.
  std::optional<Real> values = {}, vectors = {};
  /// Between any two steps replace() takes an r that was made anew, and x = 0.
  bool renews = false;
};

/// T is the type of the method's vectors.
template <class T>
class Method {
 public:
  using Scalar = T;
  virtual ~Method() = default;
  Method() = default;
  Method(Method const&) = delete;
  Method& operator=(Method const&) = delete;
  virtual MethodFacts facts() const = 0;

  /// The part of the work space that the driver uses.
  struct Workspace {
    double* norm2;             ///< the square of the monitored norm, set by begin() and each step
    CloseOperands close = {};  ///< what a persistent loop may keep close to its threads
  };
  /// Sizes the work vectors for the system, which stays where it is.
  Workspace allocate(Context& ctx, MethodSystem<T>& system) {
    system_ = &system;
    return do_allocate(ctx);
  }
  /// Before the first allocate(): takes the largest of the work space of `other`, which solves in
  /// the same Context and never while this one does: what holds nothing between two solves.
  virtual void share(Method const& /*other*/) {}
  /// From r to the first step; x = 0 already.
  virtual void begin(Context&, Attempt const&) = 0;
  /// One iteration, as operations only; ends in observe(). Recorded once.
  virtual void step(Context&) = 0;
  /// Completes x from what the steps made, as operations only.
  virtual void complete(Context&) {}
  /// At Stop::replacement, which a step raises before it changes anything: computes what the steps
  /// carry along by recurrences from what it stands for. Of a method that renews: from a new r, and
  /// x = 0 after complete().
  virtual void replace(Context&) {}

  /// After complete(), on the host: further work, or another reason for the stop.
  virtual void conclude(Context&, LoopState&) {}
  /// Refines the reason of the stop. Called only where x misses the tolerance; an inner solve calls
  /// it after every run that ends without a claim. It reads scalars and may apply A.
  virtual void classify_stop(Context&, LoopState&) {}
  /// classify_stop() as operations; norm_A is an estimate of ||A|| where the operations run.
  virtual void classify_stop_in_batch(Context&, double const* /*norm_A*/) {}
  /// Called where the true residual refutes a claim; true where the method found A singular to
  /// rounding error. The call may wait for the device.
  virtual bool saw_singular(Context&) { return false; }
  /// The monitored norm is the 2-norm of r, so it compares with the tolerance as it is. Otherwise a
  /// claim may come too early, and Goal::tighten asks for more.
  virtual bool monitors_residual() const { return true; }
  /// For a method that minimises ||r||: the part of r along the columns of A, relative, small at a
  /// least-squares solution. Infinite for any other.
  virtual double normal_residual(Context&, In<double> /*r*/, double /*r_norm*/) {
    return std::numeric_limits<double>::infinity();
  }
  /// ||A^T r|| of the r that normal_residual() was last given; 0 where it computes none.
  virtual double gradient() const { return 0; }
  /// Estimate of cond(A M) from the runs of this solve; NaN where there is none.
  virtual double condition() const { return SolveReport::unknown; }
  /// What the steps of a run so far have seen of cond(M A), or cond(A M), from below; 0 where they
  /// tell nothing, or nobody looks. Waits for the device.
  virtual double seen_condition(Context&) { return 0; }

 protected:
  LinearOperator<T> const& A() const { return *system_->A; }
  LinearOperator<T> const& M() const { return *system_->M; }
  Out<T> r() const { return system_->r; }
  Out<T> x() const { return system_->x; }
  MethodSystem<T>& system() const { return *system_; }

  /// Makes room for the best x, for a method whose norm may rise.
  void keep_best(Context& ctx) {
    system_->best.resize(ctx.space(), A().cols());
    system_->keeps_best = true;
  }
  /// The place of the best x (solvers/driver/best_iterate.hpp), null without keep_best().
  T* best() const { return system_->best_data(); }

  /// What a persistent loop may keep close: the scalars, and vectors that no one else uses.
  template <class S>
  CloseOperands close(Array<S>& scalars, std::initializer_list<Vector<T>*> vectors) const {
    CloseOperands kept;
    kept.scalars = {reinterpret_cast<std::byte*>(scalars.data()), scalars.bytes()};
    for (Vector<T>* v : vectors) kept.vectors.push_back(v->view().data);
    auto const diagonal = M().diagonal();
    if (diagonal && diagonal->d) kept.constants.push_back(diagonal->d);
    return kept;
  }

 private:
  virtual Workspace do_allocate(Context&) = 0;
  MethodSystem<T>* system_ = nullptr;
};

}  // namespace tcsolve
