// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/block_solver.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/driver/block_columns.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Beyond 2^+-200 an operator is scaled, lest squares of a product leave the range of FP64.
int exponent_beyond(double size) {
  constexpr int far = 200, furthest = 1000;
  bool const scalable = std::isfinite(size) && size != 0 && std::abs(std::ilogb(size)) > far;
  return scalable ? std::clamp(std::ilogb(size), -furthest, furthest) : 0;
}

}  // namespace

BlockSolver::BlockSolver(std::unique_ptr<BlockMethod> method, StoppingParams const& stopping,
                         Execution execution, Index columns, BlockParts parts)
    : method_(std::move(method)),
      facts_(method_->facts()),
      stopping_(stopping),
      execution_(execution),
      most_(columns),
      parts_(parts.count),
      compares_(parts.compare) {}

void BlockSolver::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                        OperatorPtr<double> A_true) {
  if (!A) throw ShapeError(cat(facts_.name, ": setup needs an operator"));
  if (A->rows() != A->cols())
    throw ShapeError(cat(facts_.name, " needs a square matrix; the matrix is ", A->rows(), " x ",
                         A->cols(), "; use lsmr"));
  if (!A_true) A_true = A;
  if (A_true->rows() != A->rows() || A_true->cols() != A->cols())
    throw ShapeError(cat(facts_.name, ": A is ", A->rows(), " x ", A->cols(), ", A_true is ",
                         A_true->rows(), " x ", A_true->cols()));
  if (M && (M->rows() != A->cols() || M->cols() != A->cols()))
    throw ShapeError(cat(facts_.name, ": the preconditioner is ", M->rows(), " x ", M->cols(),
                         "; A has ", A->cols(), " columns"));
  Context::Entry const entry(ctx);
  Range const range(ctx, [this] { return facts_.name + ".setup"; });
  ctx_ = nullptr;  // whatever throws from here on leaves a solver that solve() refuses
  Index const n = A->rows();
  system_.A = std::move(A);
  system_.preconditioned = M != nullptr;
  system_.M = M ? std::move(M) : std::make_shared<Identity<double>>(n);
  A_true_ = std::move(A_true);
  auto const stored = [](auto const& op) { return roundoff(op->traits().precision.storage); };
  rounded_ = stored(system_.A) > stored(A_true_);
  width_ = 0;  // the next solve records its step
  compared_.clear();
  for (Vector<double>* v : {&b_, &x_, &r_, &trial_, &trial_residual_, &d_})
    v->resize(ctx.space(), n);
  if (by_rows()) unmet_.resize(ctx.space(), n);
  Deadline const deadline = deadline_after(Clock::now(), stopping_.time_limit);
  ctx.solving(deadline, inner_, [&] { scale_operators(ctx); });
  if (!loop_ || !loop_->belongs_to(ctx)) loop_.emplace(ctx, stopping_.max_iters);
  ctx_ = &ctx;
}

/// A and M of a size whose squares FP64 holds. Powers of two change no bit of the iterates.
void BlockSolver::scale_operators(Context& ctx) {
  Index const n = system_.A->rows();
  exponent_ = 0;
  norm_A_ = A_true_->norm_estimate();
  system_.norm_A = 0;
  if (n == 0) return;
  exponent_ = exponent_beyond(norm_A_);
  if (std::isfinite(norm_A_)) system_.norm_A = std::ldexp(norm_A_, -exponent_);
  if (exponent_ != 0)
    system_.A = std::make_shared<Scaled<double>>(std::ldexp(1.0, -exponent_), system_.A);
  if (!system_.preconditioned) return;
  submit(ctx, Random<double>{n, ctx.options().seed + 2, x_.view().data});
  system_.M->apply(ctx, x_, r_);
  auto const [before, after] = norms<double>(ctx, x_, r_);
  if (int const e = exponent_beyond(after / before); e != 0)
    system_.M = std::make_shared<Scaled<double>>(std::ldexp(1.0, -e), system_.M);
}

/// Work vectors and a recording for so many columns, which may be parts of one.
void BlockSolver::size_for(Context& ctx, Index columns) {
  Index const n = system_.A->rows();
  bool const same = width_ == columns && recorded_parts_ == system_.parts;
  if (same && recorded_ == revision()) return;
  width_ = 0;
  system_.R.resize(ctx.space(), n, columns);
  system_.X.resize(ctx.space(), n, columns);
  system_.goal2.resize(ctx.space(), static_cast<std::size_t>(columns));
  measure2_ = method_->allocate(ctx, system_);
  record(ctx);
  width_ = columns;
  recorded_parts_ = system_.parts;
}

void BlockSolver::record(Context& ctx) {
  recorded_ = revision();
  auto const values = static_cast<double>(system_.R.view().size());
  SolverCost const& each = facts_.cost;
  double const bytes = each.products * system_.A->cost(system_.columns()).bytes +
                       each.applications * system_.M->cost(system_.columns()).bytes +
                       each.passes * sizeof(double) * values;
  loop_->record(ctx, execution_, {{}, bytes, facts_.cycle},
                [this](Context& c) { method_->step(c); });
}

double BlockSolver::account(Context& ctx, double steps) {
  SolverCost const each = facts_.cost;
  return std::min(system_.A->advance(ctx, each.products * steps) / each.products,
                  system_.M->advance(ctx, each.applications * steps) / each.applications);
}

SolveReport BlockSolver::solve(In<double> b, Out<double> x) {
  require_vectors(facts_.name, system_.A ? system_.A->rows() : b.rows,
                  system_.A ? system_.A->cols() : x.rows, b, x);
  return solve_columns(b, x).front();
}

std::vector<SolveReport> BlockSolver::solve_columns(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(facts_.name, ": solve before setup"));
  if (b.cols != x.cols)
    throw ShapeError(cat(facts_.name, ": b has ", b.cols, " columns, x has ", x.cols));
  for (Index j = 0; j < b.cols; ++j)
    require_vectors(facts_.name, system_.A->rows(), system_.A->cols(), column(b, j), column(x, j));
  Context::Entry const entry(*ctx_);
  Range const range(*ctx_, [this] { return facts_.name + ".solve"; });
  std::vector<SolveReport> reports;
  ctx_->in_turn(deadline_after(Clock::now(), stopping_.time_limit), [&] {
    Stop ended = Stop::running;
    for (Index first = 0; first < b.cols; first += most_) {
      Index const count = std::min(most_, b.cols - first);
      if (first > 0) ended = ctx_->asked();
      if (ended != Stop::running) {
        reports.insert(reports.end(), static_cast<std::size_t>(count),
                       not_begun(ended, facts_.name));
        continue;
      }
      for (SolveReport& report :
           solve_group(columns_of(b, first, count), columns_of(x, first, count)))
        reports.push_back(std::move(report));
    }
  });
  return reports;
}

std::vector<SolveReport> BlockSolver::solve_group(In<double> b, Out<double> x) {
  Context& ctx = *ctx_;
  auto const start = Clock::now();
  for (MultiVector<double>* v : {&B_, &X_, &residuals_}) v->resize(ctx.space(), b.rows, b.cols);
  fetch(ctx, facts_.name, b, B_);
  fetch(ctx, facts_.name, x, X_);
  inner_ = {};
  residuals_made_ = 0;
  bool const enlarged = parts_ > 1 && b.cols == 1;
  std::string on_parts;
  std::vector<ColumnState> columns(static_cast<std::size_t>(b.cols));
  for (Index j = 0; j < b.cols; ++j) columns[static_cast<std::size_t>(j)].j = j;
  ctx.solving(deadline_after(start, stopping_.time_limit), inner_, [&] {
    std::vector<ColumnState*> active;
    for (ColumnState& c : columns) {
      open(c);
      if (!c.decided) active.push_back(&c);
    }
    bool const from_zero = columns.front().x_norm == 0;
    system_.parts = enlarged;
    iterate(active, start);
    for (ColumnState& c : columns) close(c, b.cols);
    if (enlarged && !active.empty())
      on_parts = verdict_on_parts(columns.front().report, from_zero, start);
    system_.parts = false;
  });
  deliver(ctx, facts_.name, X_, x);
  double const seconds = seconds_since(start);
  std::vector<SolveReport> reports;
  for (ColumnState& c : columns) {
    c.report.seconds = seconds;
    c.report.message = message_of(c.report, facts_.name, advice()) + on_parts;
    reports.push_back(std::move(c.report));
  }
  return reports;
}

double BlockSolver::measure_residual(In<double> b, In<double> x, Out<double> r, Summed sum) {
  ++residuals_made_;
  if (sum == Summed::exact)
    A_true_->exact_residual(*ctx_, b, x, r);
  else
    A_true_->residual(*ctx_, b, x, r);
  return norm<double>(*ctx_, r);
}

/// r = b_ - A_true x as exactly as A_true can, without the rows that are met where the norm of all
/// meets the tolerance; `open`: what is left to solve.
Measured BlockSolver::examine(ColumnState& c, In<double> x, Out<double> r, double& open) {
  ++residuals_made_;
  Measured const now = measure(*ctx_, *A_true_, b_, x, r, Summed::exact, c.rule,
                               by_rows() ? unmet_.view().data : nullptr, [](TrialNorms*) {});
  open = now.residual;
  if (by_rows() && now.residual <= c.report.tolerance) {
    copy<double, double>(*ctx_, In<double>(unmet_), r);
    open = now.rows.unmet == 0 ? 0.0 : norm<double>(*ctx_, r);
  }
  return now;
}

double BlockSolver::attainable_bound(ColumnState const& c) const {
  return tcsolve::attainable_bound(norm_A_, c.x_norm, c.report.rhs_norm, double(system_.A->cols()));
}

double BlockSolver::attainable(ColumnState const& c) const {
  if (std::isnan(c.rows.size)) return attainable_bound(c);
  return attainable_residual(c.rows.size, norm_A_, double(system_.A->cols()));
}

/// Norms of b, x and the residual of a column, and its verdict where there is nothing to solve.
void BlockSolver::open(ColumnState& c) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  report.preconditioned = system_.preconditioned;
  report.rows = system_.A->rows();
  copy<double, double>(ctx, column<double const>(B_, c.j), b_);
  copy<double, double>(ctx, column<double const>(X_, c.j), x_);
  auto const [b_norm, x_norm] = norms<double>(ctx, b_, x_);
  if (!opens(c, b_norm, x_norm)) return;
  c.open = report.true_residual;
  if (c.open <= report.tolerance + attainable_bound(c) && A_true_->sums_exactly()) {
    Measured const now = examine(c, x_, r_, c.open);
    report.true_residual = now.residual;
    c.rows = now.rows;
    report.tolerance = tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol,
                                    report.rhs_norm, now.residual);
    c.exact = true;
  }
  report.initial_residual = report.best_residual = report.recurrence_residual =
      report.true_residual;
  copy<double, double>(ctx, r_, column<double>(residuals_, c.j));
  if (c.open <= enough(c)) return c.end(Stop::converged, Cause::exact_guess);
  if (stopping_.max_iters == 0) c.end(Stop::max_iterations, Cause::none);
}

/// What may be left to solve.
double BlockSolver::enough(ColumnState const& c) const {
  return by_rows() ? 0.0 : c.report.tolerance;
}

/// False where b = 0 or a number is missing: the verdict is there. Else r_ is the residual.
bool BlockSolver::opens(ColumnState& c, double b_norm, double x_norm) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  auto overflows = [&](double norm, In<double> v) {  // of elements that are numbers
    return !std::isfinite(norm) && std::isfinite(largest<double>(ctx, v));
  };
  report.rhs_norm = b_norm;
  c.x_norm = x_norm;
  Verdict early = before_solving({b_norm, x_norm, 0, overflows(b_norm, b_), overflows(x_norm, x_)});
  bool const zero = early.cause == Cause::zero_rhs;
  if (zero) {
    fill<double>(ctx, x_, 0);
    copy<double, double>(ctx, x_, column<double>(X_, c.j));
    c.x_norm = 0;
  }
  double residual = 0;
  if (early.stop != Stop::nonfinite) {
    residual = measure_residual(b_, x_, r_, Summed::plain);
    if (!std::isfinite(residual)) early = {Stop::nonfinite, Cause::matrix};
  }
  if (early.stop == Stop::nonfinite) {
    report.true_residual = report.initial_residual = nan;
    c.end(early.stop, early.cause);
    return false;
  }
  c.exact = !A_true_->sums_exactly();  // there is nothing better
  report.tolerance =
      tolerance_of(stopping_.baseline, stopping_.rtol, stopping_.atol, b_norm, residual);
  c.rule = row_rule(stopping_, report.tolerance, b_norm);
  if (by_rows() && c.exact)
    throw Unsupported(cat(facts_.name, ": baseline: rows goes by the entries of each row, which ",
                          A_true_->name(), " does not name"));
  if (zero) {
    // x0 is not looked at: of its residual nothing is known.
    report.true_residual = report.best_residual = report.recurrence_residual = 0;
    report.tolerance = stopping_.baseline != Baseline::initial ? stopping_.atol : nan;
    c.exact = true;
    c.end(early.stop, early.cause);
    return false;
  }
  report.true_residual = residual;
  return true;
}

/// Runs the method on all columns that have no verdict yet, until they have.
void BlockSolver::iterate(std::vector<ColumnState*> active, Clock::time_point start) {
  for (Index restarts = 0; !active.empty(); ++restarts) {
    Index done = 0;
    for (ColumnState* c : active) {
      c->report.restarts = restarts;
      done = std::max(done, c->report.iterations);
    }
    system_.attempt = restarts;
    Run const run = this->run(active, stopping_.max_iters - done, start);
    for (Index i = 0; i < static_cast<Index>(active.size()); ++i)
      judge(*active[static_cast<std::size_t>(i)], run, i);
    std::erase_if(active, [](ColumnState* c) { return c->decided; });
  }
}

/// One run of the method on the residuals at hand; system_.X holds the corrections afterwards.
/// `called`: what observers are told that it is, where it is not the method.
auto BlockSolver::run(std::vector<ColumnState*> const& active, Index steps, Clock::time_point start,
                      std::string const& called) -> Run {
  Context& ctx = *ctx_;
  Range const range(ctx, [this] { return facts_.name + ".cycle"; });
  constexpr double u = 0x1p-53;
  auto const w = static_cast<Index>(active.size());
  size_for(ctx, system_.parts ? parts_ : w);
  inner_.complaint.clear();
  std::vector<double> goal2;
  double farthest = 0, rise = 1;
  double shown = 1;  // the tolerance of the column that is farthest from its own
  for (Index i = 0; i < w; ++i) {
    ColumnState& c = *active[static_cast<std::size_t>(i)];
    SolveReport const& report = c.report;
    bool const rows_left = by_rows() && report.true_residual <= report.tolerance;
    c.target = rows_left ? 0.25 * c.open * c.rule.overall / c.rows.overall : report.tolerance;
    c.exponent = std::ilogb(c.open);
    copy<double, double>(ctx, column<double const>(residuals_, c.j), r_);
    rescale_into<double, double>(ctx, -c.exponent, r_, d_);
    put_residual(i);
    // Near its roundoff a recurrence is about nothing: there the true residual is looked at first.
    double const fall = std::max(c.target / c.open, 100 * u);
    double const goal = fall * std::ldexp(c.open, -c.exponent);
    goal2.push_back(goal * goal);
    if (1 / fall > farthest) shown = report.tolerance;
    farthest = std::max(farthest, 1 / fall);
    rise = std::max(rise, stopping_.divtol * report.rhs_norm / c.open);
  }
  goal2.resize(static_cast<std::size_t>(width_), goal2.back());  // of parts: that of their sum
  copy_bytes(ctx, system_.goal2.data(), ctx.space(), goal2.data(), Space::host,
             goal2.size() * sizeof(double));
  fill<double>(ctx, system_.X, 0);
  method_->begin(ctx);
  Watch const watch{.solver = called.empty() ? facts_.name : called,
                    .start = start,
                    .time_limit = stopping_.time_limit,
                    .iterations_before = active.front()->report.iterations,
                    .residual_start = farthest * shown,
                    .tolerance = shown};
  std::int32_t accounted = 0;
  auto adapt = [&](std::int32_t done) {  // A in another format is the same A
    double const patience = account(ctx, done - std::exchange(accounted, done));
    if (revision() != recorded_) record(ctx);
    return patience;
  };
  std::int32_t const window = stagnation_window(stopping_.stagnation_window, system_.A->cols());
  RunLimits const norms{1, std::max(rise, stopping_.divtol) * farthest, farthest, u};
  Run out;
  auto const loop_start = Clock::now();
  // A method raises Stop::replacement where a narrower block is to go on.
  auto look = [&](LoopState& state, bool asked) {
    if (asked) state.stop = static_cast<std::int32_t>(Stop::cycle_end);
    return !asked;
  };
  std::int32_t const most = std::min(steps, facts_.cycle);
  out.state =
      loop_->run(ctx, {most, window, measure2_, norms}, watch, out.measures, {[] {}, adapt, look});
  method_->classify_stop(ctx, out.state);
  method_->complete(ctx);
  account(ctx, out.state.iteration - accounted);
  out.seconds = seconds_since(loop_start);
  for (double& m : out.measures) m = std::sqrt(m);
  out.ends = method_->column_ends(ctx);
  return out;
}

/// How column i of a run ended: by itself, or with the loop.
ColumnEnd BlockSolver::end_of(Run const& run, Index i) const {
  ColumnEnd end;
  if (!run.ends.empty()) end = run.ends[static_cast<std::size_t>(i)];
  if (end.stop == Stop::running) {
    end.stop = static_cast<Stop>(run.state.stop);
    end.cause = static_cast<Cause>(run.state.cause);
    end.value = run.state.value;
  }
  if (run.ends.empty()) {
    end.steps = static_cast<Index>(run.measures.size());
    end.measure2 = run.measures.empty() ? nan : run.measures.back() * run.measures.back();
  }
  heed(end);
  return end;
}

/// A request to end, or an inner solver's complaint, in the place of what the method concluded
/// from it.
void BlockSolver::heed(ColumnEnd& end) const {
  for (Stop const own :
       {Stop::claimed, Stop::cycle_end, Stop::stagnated, Stop::cancelled, Stop::time_limit})
    if (end.stop == own) return;
  Stop const asked = ctx_->asked();
  if (asked == Stop::running && inner_.complaint.empty()) return;
  bool const ended = asked != Stop::running;
  end.stop = ended ? asked : Stop::breakdown;
  end.cause = ended ? Cause::none : Cause::inner_solver;
}

/// Takes x_j + d_j where its true residual is smaller, and decides whether the column goes on.
void BlockSolver::judge(ColumnState& c, Run const& run, Index i) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  double const before = c.open;
  ColumnEnd const end = end_of(run, i);
  for (Index k = 0; k < end.steps; ++k)
    report.history.push_back({++report.iterations,
                              run.measures[static_cast<std::size_t>(k)] * c.target,
                              loop_->moments().at(k + 1), SolveReport::unknown,
                              k == 0 && report.restarts > 0 ? Mark::restart : Mark::none});
  if (end.steps > 0) report.recurrence_residual = std::sqrt(end.measure2) * c.target;
  report.loop_seconds += run.seconds;
  report.execution = loop_->taken();

  PowerOfTwo const two(c.exponent - exponent_);
  take_correction(i);
  copy<double, double>(ctx, column<double const>(X_, c.j), x_);
  copy<double, double>(ctx, column<double const>(B_, c.j), b_);
  In<double> const d = d_, x = x_;
  submit(ctx, Correct<double>{d.rows, two.factor, two.factor2, d.data, x.data, trial_.view().data});
  double open = 0;
  Measured const now = examine(c, trial_, trial_residual_, open);
  if (end.steps > 0) report.history.back().true_residual = now.residual;
  bool const finite = now.finite();
  auto const step = Judgement::step(finite, before, open, infinite, infinite);
  if (step.takes) {
    report.true_residual = now.residual;
    c.open = open;
    c.rows = now.rows;
    c.x_norm = now.x_norm;
    c.exact = true;
    copy<double, double>(ctx, trial_, column<double>(X_, c.j));
    copy<double, double>(ctx, trial_residual_, column<double>(residuals_, c.j));
    report.best_residual = now.residual;
    report.best_iteration = report.iterations;
  }
  bool const exhausted = report.iterations >= stopping_.max_iters;
  // The iterations of another column ended the run of this one: whether it stagnates is not known.
  bool const cut = !run.ends.empty() && end.stop == Stop::cycle_end && end.steps > 0 &&
                   end.steps < facts_.cycle && !exhausted;
  Verdict verdict = c.judgement.after(
      {.stop = end.stop,
       .cause = end.cause,
       .overflow = !finite && std::isfinite(end.value),
       .gain = cut ? std::min(step.gain, Judgement::enough_gain) : step.gain,
       .residual = c.open,
       .tolerance = enough(c),
       .rhs_norm = report.rhs_norm,
       .limit = by_rows() && report.true_residual <= report.tolerance ? 0.0 : attainable(c),
       .lost = lost_to_underflow(norm_A_, double(system_.A->cols())),
       .normal = infinite,
       .optimal = 0,
       .noise = 0,
       .monitors_residual = true,
       .roundoff = 0x1p-53,
       .exhausted = exhausted});
  if (verdict.stop == Stop::running) return;
  if (verdict.stop == end.stop) report.value = end.value;
  if (rounded_) verdict = verdict_on_rounded(verdict);
  if (verdict.cause == Cause::inner_solver) report.inner = inner_.complaint;
  c.end(verdict.stop, verdict.stop == Stop::nonfinite ? diagnose() : verdict.cause);
}

/// Which of M and A turns a finite vector into one that is not.
Cause BlockSolver::diagnose() {
  Context& ctx = *ctx_;
  submit(ctx, Random<double>{d_.rows(), ctx.options().seed + 3, d_.view().data});
  system_.M->apply(ctx, d_, trial_);
  system_.A->apply(ctx, d_, trial_residual_);
  auto const [of_M, of_A] = norms<double>(ctx, trial_, trial_residual_);
  return !std::isfinite(of_M)   ? Cause::preconditioner
         : !std::isfinite(of_A) ? Cause::matrix
                                : Cause::overflow;
}

/// The figures of a column that has its verdict; `together`: columns that shared the work.
void BlockSolver::close(ColumnState& c, Index together) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  report.residuals = residuals_made_;
  report.products = std::llround(facts_.cost.products * report.iterations);
  report.applications =
      system_.preconditioned ? std::llround(facts_.cost.applications * report.iterations) : 0;
  report.inner_iterations = inner_.iterations;
  report.bytes_per_iteration =
      bytes_of(system_.parts ? parts_ : together, facts_.cost.passes) / together;
  report.bytes = report.bytes_per_iteration * report.iterations;
  if (std::isnan(report.true_residual)) return;
  if (!c.exact) {
    copy<double, double>(ctx, column<double const>(X_, c.j), x_);
    copy<double, double>(ctx, column<double const>(B_, c.j), b_);
    Measured const now = examine(c, x_, r_, c.open);
    report.true_residual = now.residual;
    c.rows = now.rows;
    c.exact = true;
    if (c.open <= enough(c) && !report.converged()) c.end(Stop::converged, Cause::none);
  }
  report.rowwise_error = c.rows.relative;
  report.rows_unmet = c.rows.unmet;
  if (std::isfinite(norm_A_) || !std::isnan(c.rows.size)) report.attainable = attainable(c);
  if (!std::isfinite(norm_A_)) return;
  report.backward_error = backward_error(report.true_residual, norm_A_, c.x_norm, report.rhs_norm);
}

}  // namespace tcsolve
