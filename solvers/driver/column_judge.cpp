// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/column_judge.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

void JudgedSystem::reserve(Index more) {
  Index vectors = more;
  // Two sizes of each row; of an A over ranks what its own columns leave to the others.
  if (A_true->sums_exactly()) vectors += ctx->communicator().extends_sums() ? 3 : 2;
  auto const rows = static_cast<std::size_t>(std::max(A_true->rows(), A_true->cols()));
  constexpr std::size_t piece = 256, few = 16;  // what else is taken meanwhile
  std::size_t const bytes =
      static_cast<std::size_t>(vectors) * (rows * sizeof(double) + piece) + few * piece;
  // Pieces of workspace give way to one when the scope that has them ends; then that is made.
  for (int turn = 0; turn < 2; ++turn) ctx->arena().scope().take<std::byte>(bytes);
}

void JudgedSystem::make_residual(In<double> b, In<double> x, Out<double> r, Summed sum) {
  Range const range(*ctx, "judge");
  ++residuals;
  if (sum == Summed::exact)
    A_true->exact_residual(*ctx, b, x, r);
  else
    A_true->residual(*ctx, b, x, r);
}

double JudgedSystem::measure_residual(In<double> b, In<double> x, Out<double> r, Summed sum) {
  make_residual(b, x, r, sum);
  return norm<double>(*ctx, r);
}

bool ColumnJudge::open(In<double> b, Out<double> x, Vector<double>& r) {
  Context& ctx = *system_->ctx;
  StoppingParams const& stopping = system_->stopping;
  // A callable may throw at what is no number, so b and x are looked at first; otherwise with r.
  bool const callable = !system_->A_true->traits().capturable;
  double guess_norm = 0, residual = 0;
  if (callable) {
    auto const [b_norm, x_norm] = norms(ctx, b, x);
    report.rhs_norm = b_norm;
    guess_norm = x_norm;
  } else {
    system_->make_residual(b, x, r, Summed::plain);
    auto const [b_norm, x_norm, r_norm] = norms(ctx, b, x, r.view());
    report.rhs_norm = b_norm;
    guess_norm = x_norm;
    residual = r_norm;
  }
  // Elements that are numbers may have a norm that is not.
  auto const overflows = [&](double norm, In<double> v) {
    return !std::isfinite(norm) && std::isfinite(largest<double>(ctx, v));
  };
  Verdict early = before_solving({.rhs_norm = report.rhs_norm,
                                  .x_norm = guess_norm,
                                  .residual = residual,
                                  .rhs_overflows = overflows(report.rhs_norm, b),
                                  .x_overflows = overflows(guess_norm, x)});
  bool const zero = early.cause == Cause::zero_rhs;
  if (zero) fill<double>(ctx, x, 0);
  if (zero || (callable && early.stop == Stop::running)) {
    residual = system_->measure_residual(b, x, r, Summed::plain);
    if (!std::isfinite(residual)) early = {Stop::nonfinite, Cause::matrix};
  }
  if (early.stop == Stop::nonfinite) {
    report.true_residual = report.initial_residual = std::numeric_limits<double>::quiet_NaN();
    end(early.stop, early.cause);
    return false;
  }
  if (zero) {
    // x0 is not looked at: of its residual nothing is known.
    report.true_residual = report.best_residual = report.recurrence_residual = 0;
    if (stopping.baseline != Baseline::initial) report.tolerance = stopping.atol;
    exact_ = true;
    end(early.stop, early.cause);
    return false;
  }
  if (begin(report.rhs_norm, guess_norm, residual)) return true;
  if (!exact_ && residual <= report.tolerance + attainable_bound()) {
    Examined const now = examine(b, x, r);
    report.true_residual = report.initial_residual = report.best_residual = now.residual;
    rows_ = now.rows;
    open_ = now.open;
    exact_ = true;
    report.tolerance = tolerance(now.residual);
  }
  if (open_ > enough()) return true;
  end(Stop::converged, Cause::exact_guess);
  return false;
}

bool ColumnJudge::begin(double rhs_norm, double x_norm, double residual) {
  exact_ = !system_->A_true->sums_exactly();  // there is nothing better
  if (system_->by_rows() && exact_)
    throw Unsupported(cat(system_->solver,
                          ": baseline: rows goes by the entries of each row, which ",
                          system_->A_true->name(), " does not name"));
  report.rhs_norm = rhs_norm;
  report.initial_residual = report.true_residual = report.best_residual = residual;
  report.recurrence_residual = residual;
  report.tolerance = tolerance(residual);
  rule_ = row_rule(system_->stopping, report.tolerance, rhs_norm);
  x_norm_ = x_norm;
  open_ = residual;
  bool const near = !exact_ && residual <= report.tolerance + attainable_bound();
  return !near && open_ > enough();
}

auto ColumnJudge::examine(In<double> b, In<double> x, Vector<double>& r) -> Examined {
  Range const range(*system_->ctx, "judge");
  ++system_->residuals;
  double* const unmet = system_->by_rows() ? system_->unmet.view().data : nullptr;
  Examined now{
      Measurement(*system_->ctx, *system_->A_true, b, x, r, Summed::exact, rule_, unmet).wait()};
  now.open = left_open(now, r);
  return now;
}

/// An r that misses the tolerance is left as it is; else r becomes what the same pass has left of
/// it in the rows that are not met.
double ColumnJudge::left_open(Measured const& now, Vector<double>& r) {
  if (!system_->by_rows() || !(now.residual <= report.tolerance)) return now.residual;
  std::swap(r, system_->unmet);
  return now.rows.unmet == 0 ? 0.0 : norm<double>(*system_->ctx, r);
}

void ColumnJudge::take(Examined const& now, Summed sum) {
  report.true_residual = now.residual;
  open_ = now.open;
  x_norm_ = now.x_norm;
  rows_ = now.rows;
  exact_ = sum == Summed::exact || !system_->A_true->sums_exactly();
}

/// The bound says where a closer look at the rows may matter.
void ColumnJudge::look_at_rows(In<double> b, In<double> x, Vector<double>& r) {
  bool const known = !std::isnan(rows_.size) || !system_->A_true->sums_exactly();
  if (known || !(open_ <= attainable_bound())) return;
  Examined const now = examine(b, x, r);
  report.true_residual = now.residual;
  rows_ = now.rows;
  open_ = now.open;
  exact_ = true;
}

double ColumnJudge::attainable() const {
  if (std::isnan(rows_.size)) return attainable_bound();
  return attainable_residual(rows_.size, system_->norm_A, system_->columns());
}

double ColumnJudge::reached() const {
  if (rows_are_left()) return 0;  // of its own size every row can be met
  double const bound = attainable_bound();
  return open_ <= bound ? attainable() : bound;
}

void ColumnJudge::conclude(RunEnd const& run) {
  Verdict verdict = judgement.after({.stop = run.stop,
                                     .cause = run.cause,
                                     .overflow = run.overflow,
                                     .gain = run.gain,
                                     .residual = open_,
                                     .tolerance = enough(),
                                     .rhs_norm = report.rhs_norm,
                                     .limit = reached(),
                                     .lost = lost_to_underflow(system_->norm_A, system_->columns()),
                                     .normal = run.normal,
                                     .optimal = run.optimal,
                                     .noise = run.noise,
                                     .monitors_residual = run.monitors_residual,
                                     .roundoff = system_->roundoff,
                                     .exhausted = run.exhausted,
                                     .condition = run.condition,
                                     .rounded = system_->rounded,
                                     .gradient = run.gradient,
                                     .terms = rows_.terms});
  if (verdict.stop == Stop::running) return;
  if (verdict.stop == run.stop) report.value = run.value;
  // What is said of an A that is stored in a narrower type is not yet true of the system.
  bool const by_sign = run.sign_is_certain && verdict.stop == Stop::indefinite_operator;
  if (system_->rounded && !by_sign) verdict = verdict_on_rounded(verdict);
  end(verdict.stop, verdict.cause);
}

void ColumnJudge::close(In<double> b, In<double> x, Vector<double>& r) {
  if (std::isnan(report.true_residual)) return;
  if (!exact_) {
    Examined const now = examine(b, x, r);
    report.true_residual = now.residual;
    rows_ = now.rows;
    open_ = now.open;
    exact_ = true;
    if (open_ <= enough() && !report.converged()) end(Stop::converged);
  }
  assess();
}

/// The figures of an x in FP64: backward errors, attainable residual, rows that are not met.
void ColumnJudge::assess() {
  report.rowwise_error = rows_.relative;
  report.rows_unmet = rows_.unmet;
  double const norm_A = system_->norm_A;
  if (std::isfinite(norm_A))
    report.backward_error = backward_error(report.true_residual, norm_A, x_norm_, report.rhs_norm);
  if (std::isfinite(norm_A) || !std::isnan(rows_.size)) report.attainable = attainable();
}

Verdict unless_asked(Context& ctx, std::string const& complaint, Verdict of_method) {
  switch (of_method.stop) {
    case Stop::claimed:
    case Stop::cycle_end:
    case Stop::stagnated:
    case Stop::cancelled:
    case Stop::time_limit: return of_method;
    default: break;
  }
  if (Stop const asked = ctx.asked(); asked != Stop::running) return {asked, Cause::none};
  return complaint.empty() ? of_method : Verdict{Stop::breakdown, Cause::inner_solver};
}

template <class T>
Cause diagnose(Context& ctx, LinearOperator<T> const& A, LinearOperator<T> const& M) {
  auto scope = ctx.arena().scope();
  Out<T> const v = scope.template vectors<T>(A.cols(), 1),
               z = scope.template vectors<T>(A.cols(), 1),
               w = scope.template vectors<T>(A.rows(), 1);
  random_vector<T>(ctx, 3, v);
  M.apply(ctx, v, z);
  if (!std::isfinite(norm<T>(ctx, z))) return Cause::preconditioner;
  A.apply(ctx, v, w);
  return std::isfinite(norm<T>(ctx, w)) ? Cause::overflow : Cause::matrix;
}
template Cause diagnose(Context&, LinearOperator<double> const&, LinearOperator<double> const&);
template Cause diagnose(Context&, LinearOperator<float> const&, LinearOperator<float> const&);

}  // namespace tcsolve
