// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/block_solver.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/cast.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/driver/column_ops.hpp>
#include <tcsolve/solvers/driver/condition_watch.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Columns [first, first + count) of v.
template <class T>
MultiView<T> columns_of(MultiView<T> const& v, Index first, Index count) {
  return {v.data + v.offset(0, first), v.rows, count, v.ld, v.layout, v.space};
}

/// Beyond 2^+-200 an operator is scaled, lest squares of a product leave the range of FP64; on FP32
/// vectors sooner, lest a product leaves theirs.
template <class T>
int exponent_beyond(double size) {
  constexpr bool wide = std::is_same_v<T, double>;
  constexpr int far = wide ? 200 : 20, furthest = wide ? 1000 : 120;  // 2^e is a T
  bool const scalable = std::isfinite(size) && size != 0 && std::abs(std::ilogb(size)) > far;
  return scalable ? std::clamp(std::ilogb(size), -furthest, furthest) : 0;
}

}  // namespace

template <class T>
BlockSolver<T>::BlockSolver(std::unique_ptr<BlockMethod<T>> method, StoppingParams const& stopping,
                            Execution execution, Index columns, BlockParts parts)
    : method_(std::move(method)),
      facts_(method_->facts()),
      stopping_(stopping),
      execution_(execution),
      most_(columns),
      parts_(parts.count),
      compares_(parts.compare) {}

template <class T>
void BlockSolver<T>::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                           OperatorPtr<double> A_true) {
  if (!A_true) A_true = A;
  require_operators<double>(facts_.name, true, A, M, A_true);
  Context::Entry const entry(ctx);
  warn_of_varying<double>(ctx, facts_.name, facts_.needs, M, warned_);
  Range const range(ctx, [this] { return facts_.name + ".setup"; });
  ctx_ = nullptr;  // whatever throws from here on leaves a solver that solve() refuses
  frame_.setup(ctx, facts_.name, A_true);
  Index const n = A->rows();
  system_.A = on_vectors_of<T>(ctx, std::move(A));
  system_.preconditioned = M != nullptr;
  M = frame_.around(std::move(M));
  system_.M = M ? on_vectors_of<T>(ctx, M) : std::make_shared<Identity<T>>(n);
  auto const stored = [](auto const& op) { return roundoff(op->traits().precision.storage); };
  bool const rounded = stored(system_.A) > stored(A_true);
  double const norm_A = ctx.communicator().agree(A_true->norm_estimate());
  judged_ = {&ctx,   facts_.name,          stopping_, std::move(A_true),
             norm_A, roundoff(real_of<T>), rounded};
  judged_.prepare();
  width_ = 0;  // the next solve records its step
  compared_.clear();
  for (Vector<double>* v : {&b_, &x_, &r_, &trial_}) v->resize(ctx.space(), n);
  d_.resize(ctx.space(), n);
  Deadline const deadline = deadline_after(Clock::now(), stopping_.time_limit);
  ctx.solving(deadline, inner_, [&] { scale_operators(ctx, M); });
  if (!loop_ || !loop_->belongs_to(ctx)) loop_.emplace(ctx, stopping_.max_iters);
  ctx_ = &ctx;
}

/// A and M of a size whose squares FP64 holds. Powers of two change no bit of the iterates. M as it
/// is on FP64 vectors tells its size, which FP32 may not hold.
template <class T>
void BlockSolver<T>::scale_operators(Context& ctx, OperatorPtr<double> const& M) {
  exponent_ = 0;
  system_.norm_A = 0;
  if (ctx.communicator().global_size(system_.A->rows()) == 0) return;
  exponent_ = exponent_beyond<T>(judged_.norm_A);
  if (std::isfinite(judged_.norm_A)) system_.norm_A = std::ldexp(judged_.norm_A, -exponent_);
  if (exponent_ != 0)
    system_.A = std::make_shared<Scaled<T>>(std::ldexp(1.0, -exponent_), system_.A);
  if (!system_.preconditioned) return;
  random_vector<double>(ctx, 2, x_);
  M->apply(ctx, x_, r_);
  auto const [before, after] = norms(ctx, x_, r_);
  if (int const e = exponent_beyond<T>(after / before); e != 0)
    system_.M = std::make_shared<Scaled<T>>(std::ldexp(1.0, -e), system_.M);
}

/// Work vectors and a recording for so many columns, which may be parts of one.
template <class T>
void BlockSolver<T>::size_for(Context& ctx, Index columns) {
  Index const n = system_.A->rows();
  bool const same = width_ == columns && recorded_parts_ == system_.parts;
  if (same && !ctx.communicator().agree(recorded_ != revision())) return;
  width_ = 0;
  system_.R.resize(ctx.space(), n, columns);
  system_.X.resize(ctx.space(), n, columns);
  system_.goal2.resize(ctx.space(), static_cast<std::size_t>(columns));
  system_.starts.resize(ctx.space(), static_cast<std::size_t>(columns));
  measure2_ = method_->allocate(ctx, system_);
  record(ctx);
  width_ = columns;
  recorded_parts_ = system_.parts;
}

template <class T>
void BlockSolver<T>::record(Context& ctx) {
  recorded_ = revision();
  auto const values = static_cast<double>(system_.R.view().size());
  SolverCost const& each = facts_.cost;
  double const bytes = each.products * system_.A->cost(system_.columns()).bytes +
                       each.applications * system_.M->cost(system_.columns()).bytes +
                       each.passes * sizeof(T) * values;
  loop_->record(ctx, execution_, {{}, bytes, facts_.cycle},
                [this](Context& c) { method_->step(c); });
}

template <class T>
double BlockSolver<T>::account(Context& ctx, double steps) {
  SolverCost const each = facts_.cost;
  return std::min(system_.A->advance(ctx, each.products * steps) / each.products,
                  system_.M->advance(ctx, each.applications * steps) / each.applications);
}

template <class T>
void BlockSolver<T>::stop_by(StoppingParams const& stopping) {
  if (stopping == stopping_) return;
  stopping_ = stopping;
  if (ctx_ == nullptr) return;
  judged_.stopping = stopping;
  judged_.prepare();
}

template <class T>
SolveReport BlockSolver<T>::solve(In<double> b, Out<double> x) {
  require_vectors(facts_.name, system_.A ? system_.A->rows() : b.rows,
                  system_.A ? system_.A->cols() : x.rows, b, x);
  return solve_columns(b, x).front();
}

template <class T>
std::vector<SolveReport> BlockSolver<T>::solve_columns(In<double> b, Out<double> x) {
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

template <class T>
std::vector<SolveReport> BlockSolver<T>::solve_group(In<double> b, Out<double> x) {
  auto const start = Clock::now();
  residuals_.resize(ctx_->space(), b.rows, b.cols);
  inner_ = {};
  judged_.residuals = 0;
  std::string on_parts;
  std::vector<ColumnState> columns;
  for (Index j = 0; j < b.cols; ++j) columns.emplace_back(judged_, j);
  auto const solve_all = [&](In<double> B, Out<double> X) {
    B_ = B, X_ = X;
    ctx_->solving(deadline_after(start, stopping_.time_limit), inner_,
                  [&] { solve_inside(columns, start, on_parts); });
  };
  frame_.around_solve(b, x, solve_all, true);
  double const seconds = seconds_since(start);
  std::vector<SolveReport> reports;
  for (ColumnState& c : columns) {
    frame_.judge(c.j, c.report);
    c.report.seconds = seconds;
    c.report.message = message_of(c.report, facts_.name, advice()) + on_parts;
    reports.push_back(std::move(c.report));
  }
  return reports;
}

/// All columns of B_ and X_, to their verdicts. `on_parts`: what is told of a b in parts.
template <class T>
void BlockSolver<T>::solve_inside(std::vector<ColumnState>& columns, Clock::time_point start,
                                  std::string& on_parts) {
  std::vector<ColumnState*> active;
  open(columns);
  for (ColumnState& c : columns)
    if (!c.decided()) active.push_back(&c);
  bool const enlarged = parts_ > 1 && columns.size() == 1;
  bool const from_zero = columns.front().x_norm() == 0, begins = !active.empty();
  system_.parts = enlarged;
  if (begins) judged_.reserve(frame_.judging());
  iterate(std::move(active), start);
  for (ColumnState& c : columns) close(c, static_cast<Index>(columns.size()));
  if (enlarged && begins) on_parts = verdict_on_parts(columns.front().report, from_zero, start);
  system_.parts = false;
}

/// b_ and x_ of a column: adjacent entries, as exact residuals take them.
template <class T>
void BlockSolver<T>::fetch(ColumnState const& c) {
  copy<double, double>(*ctx_, column(B_, c.j), b_);
  copy<double, double>(*ctx_, column<double const>(X_, c.j), x_);
}

/// The residuals of all columns by one product and one wait; those with nothing to solve, or of
/// which the lengths alone do not tell it, are looked at one by one.
template <class T>
void BlockSolver<T>::open(std::vector<ColumnState>& columns) {
  Context& ctx = *ctx_;
  constexpr int squares = ColumnLengths::sums;
  std::vector<double> lengths;
  if (judged_.A_true->traits().capturable && columns.size() > 1) {
    Range const range(ctx, "judge");
    judged_.residuals += static_cast<Index>(columns.size());
    judged_.A_true->residual(ctx, B_, X_, residuals_);
    auto scope = ctx.arena().scope();
    double* const sums = scope.template take<double>(columns.size() * squares);
    submit_columns(ctx, ColumnLengths{B_, {B_.data, X_.data, residuals_.view().data}, sums});
    lengths = to_host(ctx, sums, ctx.space(), columns.size() * squares);
  }
  for (ColumnState& c : columns) {
    c.report.preconditioned = system_.preconditioned;
    c.report.rows = system_.A->rows();
    double const* const of = lengths.empty() ? nullptr : lengths.data() + c.j * squares;
    bool const known = of != nullptr && squares_fit(of[0]) && squares_fit(of[2]) &&
                       (squares_fit(of[1]) || of[ColumnLengths::vectors + 1] == 0);
    if (!known || !c.begin(std::sqrt(of[0]), std::sqrt(of[1]), std::sqrt(of[2]))) open(c);
    if (!c.decided() && stopping_.max_iters == 0) c.end(Stop::max_iterations);
  }
}

/// The residual of a column, and its verdict where there is nothing to solve.
template <class T>
void BlockSolver<T>::open(ColumnState& c) {
  Context& ctx = *ctx_;
  fetch(c);
  bool const begins = c.open(b_, x_, r_);
  if (c.report.cause == Cause::zero_rhs) copy<double, double>(ctx, x_, column(X_, c.j));
  if (begins) copy<double, double>(ctx, r_, column<double>(residuals_, c.j));
}

/// Runs the method on all columns that have no verdict yet, until they have. While one goes on with
/// its direction, the block stays as it is, and columns that have their verdict keep their places.
template <class T>
void BlockSolver<T>::iterate(std::vector<ColumnState*> active, Clock::time_point start) {
  system_.attempt = 0;
  renews_ =
      facts_.renews && !judged_.by_rows() && system_.roundoff_of_curvature() > roundoff(Real::f64);
  for (bool first = true; !active.empty(); first = false) {
    Index done = 0;
    for (ColumnState* c : active) {
      if (c->start == ColumnStart::stays) continue;
      if (!first && c->start == ColumnStart::anew) ++c->report.restarts;
      done = std::max(done, c->report.iterations);
    }
    Run const run = this->run(active, stopping_.max_iters - done, start);
    bool goes_on = false;
    for (Index i = 0; i < static_cast<Index>(active.size()); ++i) {
      ColumnState& c = *active[static_cast<std::size_t>(i)];
      if (c.start != ColumnStart::stays) judge(c, run, i);
      goes_on = goes_on || c.start == ColumnStart::goes_on;
    }
    ++system_.attempt;
    if (!goes_on) std::erase_if(active, [](ColumnState* c) { return c->decided(); });
  }
}

/// Takes x_j + d_j where its true residual is smaller, and decides whether the column goes on.
template <class T>
void BlockSolver<T>::judge(ColumnState& c, Run const& run, Index i) {
  Context& ctx = *ctx_;
  SolveReport& report = c.report;
  double const before = c.open();
  ColumnEnd const end = end_of(run, i);
  for (Index k = 0; k < end.steps; ++k)
    report.history.push_back({++report.iterations,
                              run.measures[static_cast<std::size_t>(k)] * c.goal,
                              loop_->moments().at(k + 1), SolveReport::unknown,
                              k > 0                             ? Mark::none
                              : c.start == ColumnStart::goes_on ? Mark::update
                              : report.restarts > 0             ? Mark::restart
                                                                : Mark::none});
  if (end.steps > 0) report.recurrence_residual = std::sqrt(end.measure2) * c.goal;
  report.loop_seconds += run.seconds;
  report.execution = loop_->taken();

  PowerOfTwo const two(c.exponent - exponent_);
  submit(ctx, TryColumn<T>{b_.rows(), two.factor, two.factor2, correction(i),
                           column<double const>(X_, c.j), column(B_, c.j), trial_.view().data,
                           b_.view().data});
  ColumnJudge::Examined const now = c.examine(b_, trial_, r_);
  if (end.steps > 0) report.history.back().true_residual = now.residual;
  bool const finite = now.finite();
  auto const step = Judgement::step(finite, before, now.open, infinite, infinite);
  if (step.takes) {
    c.take(now, Summed::exact);
    copy<double, double>(ctx, trial_, column(X_, c.j));
    report.best_residual = now.residual;
    report.best_iteration = report.iterations;
  }
  bool const exhausted = report.iterations >= stopping_.max_iters;
  // The iterations of another column ended the run of this one: whether it stagnates is not known.
  bool const cut = !run.ends.empty() && end.stop == Stop::cycle_end && end.steps > 0 &&
                   end.steps < facts_.cycle && !exhausted;
  // r is made anew in its turn, or at a claim that the true residual bears out as far as it goes.
  constexpr double far = 10, deep = 0x1p60;  // what FP32 holds of a direction's units
  constexpr int too_often = 10;
  bool const renewed = end.stop == Stop::replacement;
  c.vain = step.takes ? 0 : c.vain + 1;
  bool const vain = renewed && c.vain >= too_often;
  bool const borne_out = step.takes && now.residual <= far * report.recurrence_residual &&
                         std::ldexp(1.0, c.exponent) <= deep * now.open;
  bool const goes_on = renews_ && borne_out && (renewed || end.stop == Stop::claimed);
  c.start = goes_on ? ColumnStart::goes_on : ColumnStart::anew;
  if (vain) renews_ = false;  // from here on a claim begins a new space
  bool const seen =
      renewed && condition_of_update(now.residual / before, system_.roundoff_of_curvature()) >
                     stopping_.most_condition;
  bool const too_narrow =
      (run.too_narrow || seen || (vain && std::isfinite(stopping_.most_condition))) &&
      (renewed || end.stop == Stop::claimed || end.stop == Stop::cycle_end);
  c.conclude({.stop = too_narrow ? Stop::precision_limit
                      : renewed  ? Stop::cycle_end
                                 : end.stop,
              .cause = too_narrow ? Cause::values : end.cause,
              .value = end.value,
              .overflow = !finite && std::isfinite(end.value),
              .gain = cut || renewed ? std::min(step.gain, Judgement::enough_gain) : step.gain,
              .exhausted = exhausted,
              .sign_is_certain = end.cause != Cause::values});
  if (c.decided()) c.start = ColumnStart::stays;
  if (!c.decided()) {
    if (step.takes) copy<double, double>(ctx, r_, column<double>(residuals_, c.j));
    return;
  }
  if (report.cause == Cause::inner_solver) report.inner = inner_.complaint;
  if (report.reason == Stop::nonfinite)
    c.explain_nonfinite(diagnose<T>(ctx, *system_.A, *system_.M));
}

/// The figures of a column that has its verdict; `together`: columns that shared the work.
template <class T>
void BlockSolver<T>::close(ColumnState& c, Index together) {
  SolveReport& report = c.report;
  report.products = std::llround(facts_.cost.products * report.iterations);
  report.applications =
      system_.preconditioned ? std::llround(facts_.cost.applications * report.iterations) : 0;
  report.inner_iterations = inner_.iterations;
  report.precision = {{.values = system_.A->traits().precision.storage,
                       .vectors = real_of<T>,
                       .iterations = report.iterations,
                       .rounded = judged_.rounded}};
  report.bytes_per_iteration =
      bytes_of(system_.parts ? parts_ : together, facts_.cost.passes) / together;
  report.bytes = report.bytes_per_iteration * report.iterations;
  if (!c.exact()) fetch(c);
  c.close(b_, x_, r_);
  report.residuals = judged_.residuals;
}

template class BlockSolver<double>;
template class BlockSolver<float>;

}  // namespace tcsolve
