// SPDX-License-Identifier: Apache-2.0
/// The driver around every Krylov method. It keeps x, b and all judgement; the method sees only
/// r and makes a correction d from zero:
///
///     r = b - A_true x                     FP64, the true residual
///     until ||r|| <= tolerance:
///       d = method(r)                      begin, step, step, ..., finish; in T
///       r' = b - A_true (x + d)            kept when it is smaller; likewise for the best d on the
///       way
///
/// Where r' may end the solve, its rows are summed in twice the precision of FP64: near the
/// attainable accuracy the rounding of a plain sum is as large as what it is to tell. That number
/// is reported and decides. Between two restarts, far from the tolerance, a plain sum does.
///
/// A method that converges by its own account is thereby checked, and when the true residual says
/// otherwise it begins again from there (residual replacement; with a rounded A, iterative
/// refinement: Higham 2002, chapter 12). r is handed over scaled by a power of two to norm 1, which
/// is exact, so a method never meets the scale of the problem.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <tcsolve/core/array.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/judge_ops.hpp>
#include <tcsolve/solvers/loop/execution.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// T is the type of the method's vectors; b, x and the true residual are FP64.
template <class T>
class KrylovSolver : public Solver {
 public:
  /// For T = double. Other T: give A and M on T-vectors, and A_true.
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) final;
  void setup_working(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M, OperatorPtr<double> A_true);
  SolveReport solve(In<double> b, Out<double> x) final;
  SolveReport approximate(In<double> b, Out<double> x) final;  // inner_solve.cpp
  SolveLimits limits() const final {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  bool one_kernel() const final {
    bool const wanted = execution_ == Execution::automatic || execution_ == Execution::persistent;
    return wanted && loop_ && loop_->one_kernel();
  }

 protected:
  KrylovSolver(StoppingParams const& stopping, Execution execution)
      : stopping_(stopping), execution_(execution) {}

  // What a method consists of. Its vectors: r (rows of A, given), d (columns of A, to make).

  /// Sizes work vectors; A_ and M_ are set.
  virtual void allocate(Context&) = 0;
  /// From r to the first step, d = 0 already; sets *norm2_, the square of the monitored norm.
  virtual void begin(Context&, Attempt const&) = 0;
  /// One iteration, as operations only; ends in observe(). Recorded once.
  virtual void step(Context&) = 0;
  /// At Stop::replacement, which a step raises before it changes anything: computes what the steps
  /// carry along by recurrences from what it stands for.
  virtual void replace(Context&) {}
  /// Completes d from what the steps made, as operations only.
  virtual void complete(Context&) {}
  /// May say more precisely why the steps ended.
  virtual void finish(Context&, LoopState&) {}
  /// Says more precisely why the loop ended. Asked only where x misses the tolerance; an inner
  /// solve asks after every run that ends without a claim. It reads scalars, and may multiply.
  virtual void classify_stop(Context&, LoopState&) {}
  /// begin(), step() and complete() are operations only and know nothing of A's size: the method
  /// can run in a batch (solvers/driver/batch.hpp), where nobody asks the host.
  virtual bool batches() const { return false; }
  /// classify_stop() as operations; norm_A is an estimate of ||A|| where the operations run.
  virtual void explain_in_batch(Context&, double const* /*norm_A*/) {}
  /// Asked where the true residual refutes a claim: did the method see A to be singular but for
  /// rounding? It may wait for the device.
  virtual bool refuted(Context&) { return false; }
  /// The method's norm may fall for long while the true residual does not: the driver looks at the
  /// true residual between pieces of the loop, also at Stop::replacement. complete() may be called
  /// between two steps of it.
  virtual bool is_watched() const { return false; }
  /// Vectors of a Krylov basis that a step reads, on average.
  virtual double basis_passes() const { return 0; }
  /// Steps between two restarts of the method itself.
  virtual Index cycle() const { return std::numeric_limits<Index>::max(); }
  /// The monitored norm is the 2-norm of r, so it compares with the tolerance as it is. Otherwise a
  /// claim may come too early: tighten_ asks for more.
  virtual bool monitors_residual() const { return true; }
  /// For a method that minimises ||r||: the part of r along the columns of A, relative, small at a
  /// least-squares solution.
  virtual double normal_residual(Context&, In<double> /*r*/, double /*r_norm*/) { return unknown; }
  /// Estimate of cond(A M) from the runs of this solve; NaN when there is none.
  virtual double condition() const { return SolveReport::unknown; }
  /// A least-squares solution will do where A is square.
  virtual bool accepts_least_squares() const { return false; }
  /// False for a method whose arithmetic is not homogeneous in A and M under powers of two.
  virtual bool scales_exactly() const { return true; }
  virtual bool square() const { return true; }

  /// The size of ||A_||; 0 when it is not known.
  double size_A() const {
    double size = std::ldexp(norm_A_, -operator_exponent_);
    return std::isfinite(size) ? size : 0.0;
  }
  /// About ||r|| as a run begins: 1, unless A r would leave the range of T.
  double size_r() const { return std::ldexp(1.0, -headroom_); }
  /// The size of A_ for a method without preconditioner, 0 with one.
  double method_norm_A() const { return preconditioned_ ? 0.0 : size_A(); }

  /// Makes room for best(), by a method whose norm may rise.
  void keep_best(Context& ctx) { best_.resize(ctx.space(), A_->cols()); }
  /// The place of the d that is kept (solvers/driver/best_iterate.hpp), null without keep_best().
  T* best() { return best_.rows() == 0 ? nullptr : best_.view().data; }

  /// Names what a persistent loop may keep close: the scalars, and the method's own vectors.
  template <class S>
  void keep(Array<S>& scalars, std::initializer_list<Vector<T>*> vectors = {}) {
    kept_ = {};
    kept_.scalars = {reinterpret_cast<std::byte*>(scalars.data()), scalars.bytes()};
    if constexpr (std::is_same_v<T, double>) {
      for (Vector<T>* v : vectors) kept_.vectors.push_back(v->view().data);
      auto diagonal = M_->diagonal();
      if (diagonal && diagonal->d) kept_.constants.push_back(diagonal->d);
    }
  }

  /// What normal_residual() has to be: rtol, at most 1e-8, above rounding; 1e-8 where atol alone is
  /// given.
  double optimal() const {
    double const asked = stopping_.rtol > 0 ? std::min(stopping_.rtol, 1e-8) : 1e-8;
    return std::max(asked, normal_noise());
  }
  static constexpr double unknown = std::numeric_limits<double>::infinity();

  /// What rounding leaves of it at the least.
  double normal_noise() const {
    return std::max(1e-13, 4 * roundoff(Real::f64) * std::sqrt(double(A_->cols())));
  }

  StoppingParams stopping_;
  Execution execution_;
  OperatorPtr<T> A_, M_;  // scaled to size 1 where they were far from it
  OperatorPtr<double> A_true_;
  Vector<T> r_, d_;
  double norm_A_ = 0;            // of A_true_; NaN when unknown
  bool preconditioned_ = false;  // M_ is not the identity put there in its absence
  double tighten_ = 1;           // of a tolerance for something other than ||r||
  double normal_ = unknown;      // normal_residual() of x
  int operator_exponent_ = 0;    // A_ is 2^-e times the operator given
  double* norm2_ = nullptr;      // the method's monitored norm, squared

 private:
  friend class BatchSolver;
  struct CycleLimits {
    Index steps;
    double residual, target, divergence;  ///< in the units of b
    int attempt;
  };
  struct System {
    In<double> b;
    Out<double> x;
    bool judged = true;  ///< false for an inner solve, whose last iterate is wanted
  };
  /// The smallest norm so far, and when.
  struct Best {
    double residual;
    Index iteration;
  };
  /// How the rows of a residual are summed: as products round, or in twice the precision of FP64.
  enum class Sum { plain, exact };
  /// x + d, which lies in trial_, and its residual in trial_residual_.
  struct Trial {
    double residual, x_norm;
    Index steps;  ///< of the run that made d
    Sum sum;      ///< how the residual was evaluated
    bool finite() const { return std::isfinite(residual) && std::isfinite(x_norm); }
  };
  /// What a run of the method came to.
  struct Cycle {
    LoopState state;
    double kept;       ///< ||r|| of the d in best_, in the units of b; infinite where there is none
    Index kept_steps;  ///< that made it
    double claimed;    ///< ||r|| of the last d, by the method's account
    Trial last{};      ///< of the last d
  };
  /// Where a run began: the method's norm, squared, and the true residual.
  struct Start {
    double norm2, residual;
  };
  /// What the looks of a run have seen.
  struct Looks {
    double best, best_norm;  ///< the smallest true residual, and ||x|| of it; NaN: not known yet
    std::int32_t step;       ///< where that was
    double next;             ///< step of the next look ...
    double apart;            ///< ... and how many after the last one that is
  };
  /// The system that step() works on, and the vectors that every method has.
  void adopt(Context&, OperatorPtr<T> A, OperatorPtr<T> M, OperatorPtr<double> A_true);
  void scale_operators(Context&);
  void record(Context&);
  double account(Context&, double steps);
  std::uint64_t revision() const { return A_->revision() + M_->revision(); }
  double preconditioned_size(Context&);
  double probe_norm(Context&);
  Out<double> stage(In<double> v, Vector<double>& space);
  void unstage(In<double> v, Out<double> to);
  /// r = b - A_true x; the second returns ||r||.
  void make_residual(In<double> b, In<double> x, Out<double> r, Sum);
  double measure_residual(In<double> b, In<double> x, Out<double> r, Sum);
  /// The two numbers that say how good FP64 lets an x be.
  void assess(SolveReport&, double x_norm) const;
  double attainable(double x_norm, double b_norm) const;
  SolveReport judge(In<double> b, Out<double> x);
  void iterate(System const&, SolveReport&, Watch const&);
  Cycle run_cycle(System const&, SolveReport&, Watch const&, CycleLimits const&);
  Trial try_correction(System const&, In<T> d, Index steps, Sum);
  Trial try_corrections(System const&, Cycle&, Sum);
  void correct_best(SolveReport&, Best const& before, Index at) const;
  void explain_claim(Cycle&, double residual, double reached, double rhs_norm);
  bool look(System const&, LoopState&, double believed, double rhs_norm, Start const&, Looks&);
  void approach(In<double> b, Out<double> x, SolveReport&, Watch const&);
  void heed(LoopState&) const;
  Cause diagnose();

  Context* ctx_ = nullptr;
  KeptOperands kept_;
  std::optional<Loop> loop_;
  std::uint64_t recorded_ = 0;  // the revision() that loop_ holds
  std::string recorded_name_;   // and of what format
  Vector<double> residual_, trial_, trial_residual_, staged_b_, staged_x_;
  Vector<T> best_;          // the best d of the run, where the method keeps it
  int cycle_exponent_ = 0;  // r_ is 2^-e times the residual
  std::string complaint_;   // of an operator, in the run of the method at hand
  double x_norm_ = 0;       // of the x of the solve at hand
  bool exact_ = false;      // residual_ is as good as A_true can say
  int headroom_ = 0;        // and its norm about 2^-headroom
};

}  // namespace tcsolve
