// SPDX-License-Identifier: Apache-2.0
/// One right-hand side and the verdict on its x. This is the one text by which the drivers of a
/// single column and of blocks judge; batches run the same judgement as operations
/// (solvers/driver/judge_ops.hpp).
///
///     open(b, x, r)         r = b - A_true x; a verdict where nothing is left to solve
///     examine(b, x, r)      r summed as exactly as A_true can, and how far each row is met
///     take(trial)           x + d is x by now
///     conclude(run)         a verdict, or one more run
///     close(b, x, r)        the figures of the x that is kept
///
/// Every conclusion is core/judgement.hpp's; what stands here is where its numbers come from.
#pragma once

#include <limits>
#include <string>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/judgement.hpp>
#include <tcsolve/solvers/driver/trial.hpp>
#include <tcsolve/solvers/report.hpp>
#include <tcsolve/solvers/stopping.hpp>

namespace tcsolve {

/// The system in which solves are judged, and what all columns of a solve share.
struct JudgedSystem {
  Context* ctx = nullptr;
  std::string solver;  ///< that errors name
  StoppingParams stopping;
  OperatorPtr<double> A_true;
  double norm_A = 0;          ///< ||A_true||, estimated; NaN where it is not known
  double roundoff = 0x1p-53;  ///< of the method's vectors
  bool rounded = false;       ///< the method's A stores narrower values than A_true
  Vector<double> unmet = {};  ///< the residual in the rows that are not met, with `baseline: rows`
  Index residuals = 0;        ///< evaluations in the solve at hand

  bool by_rows() const { return stopping.baseline == Baseline::rows; }
  double columns() const { return double(ctx->communicator().global_size(A_true->cols())); }
  /// For vectors of the Context's space.
  void prepare() {
    if (by_rows()) unmet.resize(ctx->space(), A_true->rows());
  }
  /// The workspace in which an x is judged is there from here on, with `more` vectors: a run does
  /// not take all of its steps to end for want of it. Nothing is allocated where it is there.
  void reserve(Index more = 0);
  /// r = b - A_true x; the second returns ||r||.
  void make_residual(In<double> b, In<double> x, Out<double> r, Summed);
  double measure_residual(In<double> b, In<double> x, Out<double> r, Summed);
};

class ColumnJudge {
 public:
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  /// An x and how it may be taken: `open` is what is left to solve of it.
  struct Examined : Measured {
    double open = 0;
  };
  /// How a run of the method ended, beside what the judge knows itself.
  struct RunEnd {
    Stop stop;
    Cause cause;
    double value;    ///< the number behind the stop
    bool overflow;   ///< x + d is not finite, and the method did not report it
    double gain;     ///< Judgement::Step::gain
    bool exhausted;  ///< no iterations are left
    bool monitors_residual = true;
    double normal = unknown, optimal = 0, noise = 0;  ///< as Judgement::Run
    double condition = 1, gradient = 0;
    bool sign_is_certain = false;  ///< the rounding of a narrower A does not explain it
  };

  explicit ColumnJudge(JudgedSystem& system) : system_(&system) {}

  /// True where there is something to solve: report.tolerance, open() and, in r, what is left of
  /// the residual are known then. Else the verdict is in the report, and x is 0 where b is. One
  /// wait, another one where the guess may be the solution. Throws Unsupported where rows are to be
  /// met and A_true does not know its entries.
  bool open(In<double> b, Out<double> x, Vector<double>& r);
  /// The same from lengths that are numbers, ||b|| > 0 among them, without a look at the vectors:
  /// false where open() has to decide, which knows them then.
  bool begin(double rhs_norm, double x_norm, double residual);
  /// The same where the residual, of that norm, and its tolerance are the caller's.
  void begin_from(double residual, double tolerance) {
    open_ = report.true_residual = residual;
    report.tolerance = tolerance;
  }
  /// What an x measures; r loses the rows that are met where they alone are missing. One wait.
  Examined examine(In<double> b, In<double> x, Vector<double>& r);
  /// open of an x whose residual, in r, and rows are `now`.
  double left_open(Measured const& now, Vector<double>& r);
  /// The x of `now` is the column's from here on.
  void take(Examined const& now, Summed sum);
  /// Looks at the x that was taken, in r, as exactly as A_true can, where that may decide.
  void look_at_rows(In<double> b, In<double> x, Vector<double>& r);
  /// The estimate of the smallest residual near x that conclude() goes by.
  double reached() const;
  /// The verdict is in the report, or stays open where the method is to begin again. nonfinite: the
  /// caller may look for the operand (diagnose()).
  void conclude(RunEnd const&);
  /// What is known of the last x; b and x are looked at where its residual was summed plainly.
  void close(In<double> b, In<double> x, Vector<double>& r);

  void end(Stop reason, Cause cause = Cause::none) {
    report.reason = reason;
    report.cause = cause;
    decided_ = true;
  }
  /// Of Stop::nonfinite: what diagnose() has found. A number that has left the range of FP32
  /// vectors, where A and M keep to it, says nothing of the system.
  void explain_nonfinite(Cause found) {
    report.cause = found;
    bool const narrow = system_->roundoff > 0x1p-53;
    if (narrow && found == Cause::overflow) end(Stop::precision_limit, Cause::values);
  }
  bool decided() const { return decided_; }
  /// What is left to solve: ||r||, or that of the rows that are not met ...
  double open() const { return open_; }
  /// ... and what may be left.
  double enough() const { return system_->by_rows() ? 0.0 : report.tolerance; }
  /// The norm of all rows meets its tolerance, some rows alone do not.
  bool rows_are_left() const {
    return system_->by_rows() && report.true_residual <= report.tolerance;
  }
  /// What a run has to reach, of open(): of rows that are not met the worst one decides.
  double target() const {
    return rows_are_left() ? 0.25 * open_ * rule_.overall / rows_.overall : report.tolerance;
  }
  double x_norm() const { return x_norm_; }
  RowRule const& rule() const { return rule_; }
  double attainable_bound() const { return attainable_bound(x_norm_); }
  double attainable_bound(double x_norm) const {
    return tcsolve::attainable_bound(system_->norm_A, x_norm, report.rhs_norm, system_->columns());
  }
  /// The residual is known as exactly as A_true can sum it.
  bool exact() const { return exact_; }

  SolveReport report;
  Judgement judgement;

 private:
  double tolerance(double initial) const {
    return tolerance_of(system_->stopping.baseline, system_->stopping.rtol, system_->stopping.atol,
                        report.rhs_norm, initial);
  }
  double attainable() const;
  void assess();

  JudgedSystem* system_;
  RowRule rule_{};
  RowFigures rows_;
  double open_ = 0, x_norm_ = 0;
  bool exact_ = false, decided_ = false;
};

/// A request to end the solve, or an inner solver's complaint, takes the place of what a method has
/// concluded from an operator that was interrupted or has failed.
Verdict unless_asked(Context&, std::string const& complaint, Verdict of_method);

/// Which of M and A turns a finite vector into one that is not. Cost: an application of each.
template <class T>
Cause diagnose(Context&, LinearOperator<T> const& A, LinearOperator<T> const& M);

}  // namespace tcsolve
