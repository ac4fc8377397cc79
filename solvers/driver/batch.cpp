// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/batch.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/loop/graph.hpp>

namespace tcsolve {

Index BatchReport::converged() const {
  return static_cast<Index>(std::count_if(systems.begin(), systems.end(), [](auto const& s) {
    return s.stop == static_cast<std::int32_t>(Stop::converged);
  }));
}

std::int64_t BatchReport::iterations() const {
  std::int64_t sum = 0;
  for (SystemState const& s : systems) sum += s.iterations;
  return sum;
}

Index BatchReport::worst() const {
  auto badness = [](SystemState const& s) {
    int code = exit_code(static_cast<Stop>(s.stop));
    double relative = s.rhs_norm > 0 ? s.true_residual / s.rhs_norm : s.true_residual;
    if (std::isnan(relative)) relative = std::numeric_limits<double>::infinity();
    return std::pair{code, code > 0 ? relative : double(s.iterations)};
  };
  auto worse = [&](auto const& a, auto const& b) { return badness(a) < badness(b); };
  return static_cast<Index>(std::max_element(systems.begin(), systems.end(), worse) -
                            systems.begin());
}

SolveReport BatchReport::of(Index k) const {
  SystemState const& s = systems.at(static_cast<std::size_t>(k));
  SolveReport r;
  r.reason = static_cast<Stop>(s.stop);
  r.cause = static_cast<Cause>(s.cause);
  r.iterations = s.iterations;
  r.restarts = s.restarts;
  r.rhs_norm = s.rhs_norm;
  r.initial_residual = s.initial_residual;
  r.tolerance = s.tolerance;
  r.true_residual = s.true_residual;
  r.recurrence_residual = s.recurrence_residual;
  r.best_residual = s.true_residual;
  r.best_iteration = s.iterations;
  if (std::isfinite(s.norm_A))
    r.backward_error = backward_error(s.true_residual, s.norm_A, s.x_norm, s.rhs_norm);
  r.attainable = s.attainable;
  r.value = s.value;
  r.seconds = seconds;
  r.preconditioned = preconditioned;
  r.message = message_of(r, solver, advice);
  return r;
}

BatchSolver::BatchSolver(std::unique_ptr<Solver> method)
    : owner_(std::move(method)), solver_(dynamic_cast<KrylovSolver<double>*>(owner_.get())) {
  if (solver_ == nullptr || !solver_->batches())
    throw Unsupported(cat(owner_ ? owner_->name() : "no method", " cannot run in a batch"));
  if (solver_->stopping().baseline == Baseline::rows)
    throw Unsupported("a batch: 'baseline: rows' is for systems that are solved one by one");
}

void BatchSolver::setup(Context& ctx, CsrView<double> const& a, std::vector<Index> const& starts,
                        PreconditionerFactory const* preconditioner, Arrays arrays) {
  if (a.rows != a.cols)
    throw ShapeError(cat("a batch is block diagonal; the matrix is ", a.rows, " x ", a.cols));
  if (starts.empty() || starts.front() != 0 || starts.back() != a.rows ||
      !std::is_sorted(starts.begin(), starts.end()))
    throw ShapeError(cat("the starts of a batch ascend from 0 to the number of rows, ", a.rows));
  // Teams ask about the clock each in its own time, and sums of a system stay with its team.
  require_one_rank(ctx, "a batch");
  Context::Entry const entry(ctx);
  ctx_ = nullptr;  // until everything is there
  kernel_.reset();
  A_ = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a, arrays));
  CsrView<double> const& here = A_->view();
  extents_ = {starts, 0, a.entries, 0};

  Array<Index> first = to_space(ctx, starts.data(), starts.size());
  Array<Offset> sizes(ctx.space(), starts.size());
  auto scope = ctx.arena().scope();
  double* outside = scope.take<double>(1);
  submit(ctx, BatchCheck{a.rows, here, extents_.count(), first.data(), outside});
  if (double entries = read(ctx, outside); entries > 0)
    throw MatrixError(cat("a batch: ", entries,
                          " entries couple one system with another; is the "
                          "matrix block diagonal with these starts?"));
  submit(ctx, BatchMeasure{extents_.count(), here, first.data(), sizes.data()});
  auto entries = to_host(ctx, sizes);
  for (Index k = 0; k < extents_.count(); ++k) {
    extents_.largest = std::max(extents_.largest, starts[k + 1] - starts[k]);
    extents_.most_entries = std::max(extents_.most_entries, entries[k]);
  }

  M_.reset();
  if (preconditioner != nullptr) {
    M_ = preconditioner->build(ctx, {here, A_});
    if (Index const start = M_->reaches_across(starts); start >= 0)
      throw Unsupported(cat("a batch: a block of ", M_->view()->name(),
                            " would reach from one system into the one that begins at row ",
                            start + 1, "; choose a block that divides the systems' sizes"));
  }
  arrange(ctx);
  ctx_ = &ctx;
}

/// Work vectors and recordings for A_ and M_.
void BatchSolver::arrange(Context& ctx) {
  kernel_.reset();
  Index const rows = A_->rows();
  // The method sees all systems as one; nothing in it depends on A's size (MethodFacts::batches).
  system_.adopt(ctx, A_, M_ ? M_->view() : nullptr, A_);
  system_.norm_A = 0;
  for (Vector<double>* v : {&b_, &x_, &residual_, &trial_, &trial_residual_, &sizes_})
    *v = Vector<double>(ctx.space(), rows);
  state_ = Array<SystemState>(ctx.space(), 1);
  workspace_ = solver_->method().allocate(ctx, system_);
  record(ctx);
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) kernel_ = make_batch(on, program_, extents_);
  });
}

void BatchSolver::update_values(CsrView<double> const& a) {
  if (ctx_ == nullptr) throw ShapeError("a batch: update_values before setup");
  if (a.rows != A_->rows() || a.cols != A_->cols() || a.entries != A_->view().entries)
    throw ShapeError(cat("a batch: update_values: the matrix is ", A_->rows(), " x ", A_->cols(),
                         " with ", A_->view().entries, " entries, the new one ", a.rows, " x ",
                         a.cols, " with ", a.entries));
  Context& ctx = *ctx_;
  Context::Entry const entry(ctx);
  ctx_ = nullptr;               // until everything is there
  auto const places = [this] {  // that the recordings name
    CsrView<double> const& v = A_->view();
    OperatorPtr<double> const M = M_ ? M_->view() : nullptr;
    return std::tuple{v.columns, v.values, A_->revision(), M, M ? M->revision() : 0};
  };
  auto const before = places();
  A_->update_values(ctx, a);
  if (M_) M_->update(ctx, {A_->view(), A_});
  if (places() != before) arrange(ctx);
  ctx_ = &ctx;
}

void BatchSolver::record(Context& ctx) {
  StoppingParams const& stopping = solver_->stopping();
  Method<double>& method = solver_->method();
  Index n = b_.rows();
  JudgeRules rules{stopping.rtol,
                   stopping.atol,
                   stopping.divtol,
                   roundoff(Real::f64),
                   stopping.baseline,
                   stopping.max_iters,
                   stagnation_window(stopping.stagnation_window, extents_.largest),
                   solver_->facts().cycle,
                   method.monitors_residual()};
  SystemState* s = state_.data();
  double const* norm2 = workspace_.norm2;
  Out<double> b = b_, x = x_, r = residual_, trial = trial_, trial_r = trial_residual_,
              size = sizes_;
  Out<double> scaled = system_.r, d = system_.x;
  program_ = {};
  workspaces_.clear();
  auto part = [&](auto&& body, bool repeats = false) {
    Recording const recorded = ctx.record(body);
    workspaces_.push_back(recorded.workspace);
    BatchList made = batch_program(recorded, repeats);
    int begin = static_cast<int>(program_.list.size());
    program_.list.insert(program_.list.end(), made.list.begin(), made.list.end());
    program_.gathered.insert(program_.gathered.end(), made.gathered.begin(), made.gathered.end());
    return BatchProgram::Part{begin, static_cast<int>(program_.list.size())};
  };
  program_.first = part([&](Context& c) {
    submit(c, MaxRowSum<double>{n, A_->view(), &s->norm_A});
    exact_residual(c, A_->view(), {b.data, x.data, r.data, nullptr, nullptr, size.data});
    submit(c, JudgeStart{n, rules, s, b.data, x.data, r.data, size.data});
    submit(c, JudgeZero{n, s, x.data});
  });
  program_.begin = part([&](Context& c) {
    submit(c, JudgeScale{n, s, r.data, scaled.data, d.data});
    method.begin(c, {0, 0, s});
    submit(c, JudgeCycle{0, rules, s, norm2});
  });
  program_.step = part([&](Context& c) { method.step(c); }, true);
  program_.end = part([&](Context& c) {
    method.complete(c);
    method.classify_stop_in_batch(c, &s->norm_A);
    submit(c, JudgeTrial{n, s, x.data, d.data, system_.best_data(), trial.data});
    exact_residual(c, A_->view(), {b.data, trial.data, trial_r.data, nullptr, nullptr, size.data});
    submit(c, JudgeVerdict{n, rules, s, norm2, trial.data, trial_r.data, size.data});
    submit(c, JudgeAccept{n, s, trial.data, trial_r.data, x.data, r.data});
  });
  program_.system = s;
  program_.kept = workspace_.close;
}

BatchReport BatchSolver::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError("a batch: solve before setup");
  Context& ctx = *ctx_;
  for (In<double> v : {b, In<double>(x)})
    if (v.rows != b_.rows() || !v.is_vector())
      throw ShapeError(cat("a batch: b and x are vectors of ", b_.rows(),
                           " values; one of them is ", v.rows, " x ", v.cols));
  Context::Entry const entry(ctx);
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return seconds_since(start); };
  auto asked = [&]() -> std::int32_t {
    return static_cast<std::int32_t>(ctx.asked(seconds() > solver_->stopping().time_limit));
  };
  std::size_t bytes = sizeof(double) * static_cast<std::size_t>(b_.rows());
  copy_bytes(ctx, b_.view().data, ctx.space(), b.data, b.space, bytes);
  copy_bytes(ctx, x_.view().data, ctx.space(), x.data, x.space, bytes);
  BatchReport report{solver_->name(), std::vector<SystemState>(extents_.count()), 0,
                     system_.preconditioned};
  report.advice = solver_->advice();
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      if (extents_.count() == 0) return;
      launch(on, *kernel_);
      std::int32_t told = 0;
      while (!finished(on)) {
        if (told == 0) {
          told = asked();
          if (told != 0) ask(on, *kernel_, told);
        }
        if (seconds() > 0.01) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      copy_bytes(ctx, report.systems.data(), Space::host, results(*kernel_), Space::cuda,
                 sizeof(SystemState) * report.systems.size());
    } else {
      run_batch(on, program_, extents_, report.systems.data(), asked);
    }
  });
  copy_bytes(ctx, x.data, x.space, x_.view().data, ctx.space(), bytes);
  report.seconds = seconds();
  return report;
}

int BatchSolver::resident() const {
  if constexpr (has_cuda)
    if (kernel_) return cuda::resident(*kernel_);
  return 1;
}

}  // namespace tcsolve
