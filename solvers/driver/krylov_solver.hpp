// SPDX-License-Identifier: Apache-2.0
/// The driver around every Krylov method. It keeps b, x and all judgement; the method
/// (solvers/driver/method.hpp), which it owns, sees only r and makes a correction d from zero:
///
///     r = b - A_true x                     FP64, the true residual
///     until ||r|| <= tolerance:
///       d = method(r)                      begin, step, step, ..., complete; in T
///       r' = b - A_true (x + d)            kept when it is smaller; so is the best d on the way
///
/// Where r' may end the solve, its rows are summed in twice the precision of FP64: near the
/// attainable accuracy the rounding of a plain sum is as large as the residual itself. This number
/// is reported and decides. Between two restarts, far from the tolerance, a plain sum suffices.
///
/// With `baseline: rows` an x whose ||r|| meets the tolerance is judged by its rows
/// (solvers/driver/trial.hpp): those that are met leave r, and the method goes on with the others
/// until there are none.
///
/// A method that converges by its own account is thereby checked, and when the true residual says
/// otherwise it begins again from there (residual replacement; with a rounded A, iterative
/// refinement: Higham 2002, chapter 12). Where its vectors or its A are narrower than FP64 and it
/// can, it goes on instead, with r made anew before the old one has lost much (renew()). r is
/// scaled to norm 1 by a power of two, which is exact, so that no method depends on the scale of
/// the problem.
///
///     krylov_solver.cpp   set-up, solve, judge: what becomes of x
///     column_judge.cpp    the verdict on x
///     cycle.cpp           one run of the method, and the looks at a run that may deceive
///     scaling.cpp         A and M of size 1
///     inner_solve.cpp     approximate(): the driver of an inner solve
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/core/array.hpp>
#include <tcsolve/solvers/driver/column_judge.hpp>
#include <tcsolve/solvers/driver/equilibration.hpp>
#include <tcsolve/solvers/driver/method.hpp>
#include <tcsolve/solvers/driver/patience.hpp>
#include <tcsolve/solvers/driver/solve_frame.hpp>
#include <tcsolve/solvers/loop/execution.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// T is the type of the method's vectors; b, x and the true residual are FP64.
template <class T>
class KrylovSolver : public Solver {
  static_assert(!ComplexNumber<T>, TCSOLVE_REAL_NUMBERS_ONLY);

 public:
  KrylovSolver(std::unique_ptr<Method<T>> method, StoppingParams const& stopping,
               Execution execution)
      : method_(std::move(method)),
        facts_(method_->facts()),
        stopping_(stopping),
        execution_(execution) {}

  /// A and M are applied to vectors of T (on_vectors_of()).
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) final;
  /// The same of operators on vectors of T; A_true must be given.
  void setup_working(Context& ctx, OperatorPtr<T> A, OperatorPtr<T> M, OperatorPtr<double> A_true);
  SolveReport solve(In<double> b, Out<double> x) final;
  SolveReport approximate(In<double> b, Out<double> x) final;

  void share(Solver const& other) final {
    if (auto const* const same = dynamic_cast<KrylovSolver const*>(&other))
      method_->share(*same->method_);
  }

  std::string name() const final { return facts_.name; }
  Context* context() const final { return ctx_; }
  SolverCost cost() const final {
    SolverCost cost = facts_.cost;
    cost.vectors += frame_.vectors();
    return cost;
  }
  void frame(Framing framing) final { frame_.set(std::move(framing)); }
  SolverNeeds needs() const final { return facts_.needs; }
  Real vectors() const final { return facts_.vectors.value_or(real_of<T>); }
  std::optional<Real> values() const final { return facts_.values; }
  bool renews() const final { return facts_.renews; }
  Advice advice() const final { return facts_.advice; }
  SolveLimits limits() const final {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  StoppingParams const* stops_by() const final { return &stopping_; }
  void stop_by(StoppingParams const&) final;
  bool batches() const final { return facts_.batches; }
  bool one_kernel() const final {
    bool const wanted = execution_ == Execution::automatic || execution_ == Execution::persistent;
    return wanted && loop_ && loop_->one_kernel();
  }

  // For another driver of the same method (solvers/driver/batch.hpp).
  Method<T>& method() { return *method_; }
  MethodFacts const& facts() const { return facts_; }
  StoppingParams const& stopping() const { return stopping_; }

 private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  struct CycleLimits {
    Index steps;
    double residual, target, divergence;  ///< in the units of b
    int attempt;
  };
  struct Problem {
    In<double> b;
    Out<double> x;
    bool judged = true;            ///< false for an inner solve, whose last iterate is wanted
    bool by_norm = true;           ///< what is left to solve is measured by ||r||
    double const* from = nullptr;  ///< what d corrects, where that is not x
    bool renews = true;            ///< r may be made anew on the way
  };
  /// The smallest norm so far, and when.
  struct Best {
    double residual;
    Index iteration;
  };
  /// x + d, which lies in trial_, and its residual in trial_residual_.
  struct Trial : ColumnJudge::Examined {
    Index steps = 0;             ///< of the run that made d
    Summed sum = Summed::plain;  ///< how the residual was evaluated
  };
  /// What a run of the method came to.
  struct Cycle {
    LoopState state;
    double kept;         ///< ||r|| of the best d, in the units of b; infinite where there is none
    Index kept_steps;    ///< that made it
    double claimed;      ///< ||r|| of the last d, by the method's account
    Trial last{};        ///< of the last d ...
    bool tried = false;  ///< ... which is known already
    double const* from = nullptr;  ///< Problem::from of this d
    bool in_vain = false;          ///< that its r was made anew did not help
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
    std::vector<std::pair<Index, double>> found;  ///< true residuals, and the steps before them
    double kept = 0;              ///< true residual of the iterate that was kept by a look ...
    std::int32_t kept_step = -1;  ///< ... and the step before it
  };
  /// A trial that is submitted where a piece of the loop has stopped, and not known yet.
  struct Pending {
    std::optional<Measurement> trial = {};
    Summed sum = Summed::exact;
    bool told = false;  ///< its figures come in the message that the piece ends with
  };
  /// What becomes known of it, in Loop::aside().
  struct Told {
    TrialNorms norms;
    double norm2;  ///< the method's, of an r that was made anew of the trial
  };
  /// What has become of a run each time that its r was made anew.
  struct Renewals {
    double best;                   ///< the smallest true residual, that of x at first
    int vain = 0;                  ///< of them in a row that did not lower it
    bool ended = false;            ///< for that, or where the method's r was far from the truth
    double drift = 1;              ///< fall of ||R r||^2 over that of ||r||^2
    double const* from = nullptr;  ///< Problem::from
    std::optional<Trial> accepted = {};                ///< a claim that the true residual confirms
    std::vector<std::pair<Index, double>> found = {};  ///< as Looks::found
  };
  void aim();
  void scale_operators(Context&);
  void record(Context&);
  double account(Context&, double steps);
  void set_up(Context&, OperatorPtr<T> A, OperatorPtr<T> M, OperatorPtr<double> A_true);
  std::uint64_t revision() const { return system_.A->revision() + system_.M->revision(); }
  double preconditioned_size(Context&);
  double probe_norm(Context&);
  SolveReport judge(In<double> b, Out<double> x);
  void iterate(Problem const&, ColumnJudge&, Watch const&);
  Cycle run_cycle(Problem const&, ColumnJudge&, Watch const&, CycleLimits const&);
  void begin_trial(std::optional<Measurement>&, Problem const&, ColumnJudge&, In<T> d, Summed,
                   Takes const&, TrialNorms* place = nullptr);
  Trial end_trial(Measured const&, ColumnJudge&, Index steps, Summed);
  Trial try_correction(Problem const&, ColumnJudge&, In<T> d, Index steps, Summed,
                       Takes const& = {});
  Trial try_corrections(Problem const&, ColumnJudge&, Cycle&, Summed, double below);
  void correct_best(SolveReport&, Best const& before, Index at) const;
  void note_step(SolveReport&, double before, double now) const;
  void explain_claim(Cycle&, double residual, double reached, double rhs_norm);
  bool look(Problem const&, ColumnJudge&, LoopState&, double believed, Start const&, Looks&);
  bool renews(Problem const&) const;
  void begin_anew(In<double> residual);
  void submit_trial(Pending&, Problem const&, ColumnJudge&, Stop, double residual);
  Told told(Pending const&);
  bool renew(Problem const&, ColumnJudge&, LoopState&, Pending&, double believed, Start const&,
             Renewals&);
  void count(SolveReport&) const;
  void approach(In<double> b, Out<double> x, ColumnJudge&, Watch const&);
  void heed(LoopState&) const;

  std::unique_ptr<Method<T>> method_;
  MethodFacts facts_;
  StoppingParams stopping_;
  Execution execution_;
  MethodSystem<T> system_;
  Equilibration<T> equilibration_;
  bool preconditioned_ = false;  // by an M that was given
  bool warned_ = false;          // of an M that varies
  typename Method<T>::Workspace workspace_{};

  Context* ctx_ = nullptr;
  std::optional<Loop> loop_;
  std::uint64_t recorded_ = 0;  // the revision() that loop_ holds
  std::string recorded_name_;   // and of what format
  SolveFrame frame_;
  JudgedSystem judged_;
  double norm_A_true_ = 0;  // NaN where it is not known
  Vector<double> residual_, trial_, trial_residual_;
  int cycle_exponent_ = 0;  // the method's r is 2^-e times the residual
  PatienceLeft patience_;   // of the solve at hand
  InnerSolves inner_;       // reports of operators; the complaint is that of the current run
};

/// The solver that runs one kind of method: `Cg<double>` is SolverBy<CgMethod<double>>.
template <class M>
class SolverBy final : public KrylovSolver<typename M::Scalar> {
 public:
  using Params = typename M::Params;
  /// Throws ConfigError where a parameter is outside its range (configs/schema/checked.hpp).
  explicit SolverBy(Params const& params = {})
      : KrylovSolver<typename M::Scalar>(method_of(params), params.stopping, params.execution) {}

 private:
  static std::unique_ptr<M> method_of(Params const& params) {
    auto method = std::make_unique<M>(params);
    checked(params, method->facts().name);
    return method;
  }
};

}  // namespace tcsolve
