// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/linear_solver.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <tcsolve/api/assembled_matrix.hpp>
#include <tcsolve/api/prepared_batch.hpp>
#include <tcsolve/api/prepared_system.hpp>
#include <tcsolve/api/solve_watch.hpp>
#include <tcsolve/api/transposed_system.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {
namespace {

bool has_limits(SolveCall const& call) {
  return call.rtol || call.atol || call.max_iters || call.time_limit;
}

/// The keys that a solve stops by: those of `method`, with the limits of `call` in their place.
/// Throws Unsupported for a method that has rules of its own, ConfigError for values out of range.
std::optional<StoppingParams> keys_of(SolveCall const& call, Solver const& method) {
  if (!has_limits(call)) return std::nullopt;
  if (method.stops_by() == nullptr)
    throw Unsupported(
        cat(method.name(), ": a tolerance or a limit for one solve; ", "it has rules of its own"));
  StoppingParams keys = *method.stops_by();
  if (call.rtol) keys.rtol = *call.rtol;
  if (call.atol) keys.atol = *call.atol;
  if (call.max_iters) keys.max_iters = *call.max_iters;
  if (call.time_limit) keys.time_limit = *call.time_limit;
  return checked(keys, "SolveCall");
}

}  // namespace

struct LinearSolver::Impl {
  std::unique_ptr<Context> own;  // null: the caller's
  Context& ctx;
  SolverOptions options;
  std::optional<AssembledMatrix> assembled;     // of entries: `system` may borrow its arrays
  std::optional<CsrStorage<double>> converted;  // of other types, likewise
  Array<double> wide_b, wide_x;                 // of FP32 vectors
  PreparedSystem system;
  std::optional<TransposedSystem> transposed;  // of system, once it has been asked for
  std::optional<PreparedBatch> batch;          // in the place of system

  /// Frees the systems and A^T, if there are some.
  PreparedSystem& one_system() {
    batch.reset();
    transposed.reset();
    if (assembled || converted) {
      system.unload();
      assembled.reset();
      converted.reset();
    }
    return system;
  }
  PreparedSystem& system_for(SolveCall const& call) {
    if (!call.transpose) return system;
    if (!transposed) transposed.emplace(ctx, options, system);
    return transposed->system();
  }
  /// solve(system, keys) as `call` says: for A or A^T, within its limits. `setup` is what A^T took.
  template <class Solve>
  auto solve(SolveCall const& call, Out<double> x, double& setup, Solve const& solve) {
    SolveWatch const watch(ctx, call);
    if (call.stream != nullptr) ctx.wait_for(call.stream);
    auto const start = std::chrono::steady_clock::now();
    PreparedSystem& at = *or_fail(ctx, [&] { return &system_for(call); });
    setup = call.transpose ? seconds_since(start) : 0;
    if (call.zero_guess) make_zero(x);
    if (call.guess.data != nullptr) begin_with(call.guess, x);
    auto told = or_fail(ctx, [&] { return solve(at, keys_of(call, *at.parts().method)); });
    if (call.stream != nullptr) ctx.synchronize();
    return told;
  }
  /// Of several ranks: throws on all where one would throw.
  void require_alike(In<double> b, Out<double> x, SolveCall const& call) {
    if (!system.ranks()) return;
    std::string const solver = system.parts().method->name();
    Index const columns = ctx.communicator().agree(b.cols);
    together(ctx, [&] {
      if (b.cols != columns)
        throw ShapeError(cat(solver, ": b has ", b.cols, " columns here, elsewhere ", columns));
      Index rows = system.A()->rows(), cols = system.A()->cols();
      if (call.transpose) std::swap(rows, cols);
      if (columns > 0) require_vectors(solver, rows, cols, column(b, 0), column(x, 0));
    });
  }
  void make_zero(Out<double> x) {
    // Rows without gaps between them are as many numbers in a row as columns are.
    bool const dense = x.layout == Layout::row_major && x.ld == x.cols;
    for (Index j = 0; j < x.cols; ++j) {
      Out<double> const xj =
          dense ? vector_view(x.data + std::int64_t{j} * x.rows, x.rows, x.space) : column(x, j);
      if (x.space == ctx.space() && xj.is_vector())
        fill<double>(ctx, xj, 0);
      else if (x.space == Space::host)
        for (Index i = 0; i < x.rows; ++i) xj.data[xj.offset(i, 0)] = 0;
      else
        throw Unsupported("LinearSolver: zero_guess of a block with gaps on a device; fill x");
    }
  }
  /// x = guess. Nothing waits where both lie where the Context computes.
  void begin_with(In<double> guess, Out<double> x) {
    if (guess.rows != x.rows || guess.cols != x.cols)
      throw ShapeError(cat("LinearSolver: the guess is ", guess.rows, " x ", guess.cols, ", x is ",
                           x.rows, " x ", x.cols));
    auto const gapless = [](auto const& v) {
      return v.is_vector() || v.ld == (v.layout == Layout::row_major ? v.cols : v.rows);
    };
    bool const alike = x.is_vector() ? guess.is_vector() : guess.layout == x.layout;
    if (!alike || !gapless(guess) || !gapless(x))
      throw Unsupported("LinearSolver: a guess with gaps, or laid out otherwise than x; fill x");
    if (guess.data == x.data || x.size() == 0) return;
    auto const bytes = sizeof(double) * static_cast<std::size_t>(x.size());
    bool const here = guess.space == ctx.space() && x.space == ctx.space();
    if (!here || !x.is_vector())
      return copy_bytes(ctx, x.data, x.space, guess.data, guess.space, bytes);
    copy<double, double>(ctx, guess, x);
  }
  /// What the arrays of a hold, on the device of the Context.
  CsrStorage<double> converted_here(CallerCsr const& a) {
    if (a.space != ctx.space())
      throw Unsupported("LinearSolver: a matrix of another device in other number types");
    return {ctx, narrow(a.rows, "rows"), narrow(a.cols, "cols"), tcsolve::converted(ctx, a)};
  }
  /// v in FP64, in the Context's space.
  Array<double>& widened(In<float> v, Array<double>& to) {
    Array<float> here;
    auto const n = static_cast<std::size_t>(v.size());
    to.resize(ctx.space(), n);
    if (v.space != ctx.space()) {
      here.resize(ctx.space(), n);
      copy_bytes(ctx, here.data(), ctx.space(), v.data, v.space, here.bytes());
      v.data = here.data();
    }
    convert_numbers(ctx, v.data, to.data(), NumberKind::f64, v.size());
    if (n > 0 && here.size() > 0) ctx.synchronize();
    return to;
  }
  Impl(Context& given, SolverOptions read)
      : ctx(given), options(std::move(read)), system(ctx, options) {}
  Impl(std::unique_ptr<Context> made, SolverOptions read)
      : own(std::move(made)), ctx(*own), options(std::move(read)), system(ctx, options) {}
};

namespace {

std::unique_ptr<Context> context_of(SolverOptions const& options) {
  return std::make_unique<Context>(options.backend,
                                   ContextOptions{.seed = options.seed,
                                                  .deterministic = options.deterministic,
                                                  .device = options.device,
                                                  .threads = options.threads,
                                                  .stream = options.stream});
}

}  // namespace

LinearSolver::LinearSolver(SolverOptions options) {
  SolverOptions read = read_options(std::move(options));
  auto ctx = context_of(read);
  impl_ = std::make_unique<Impl>(std::move(ctx), std::move(read));
}

LinearSolver::LinearSolver(Context& ctx, SolverOptions options)
    : impl_(std::make_unique<Impl>(ctx, read_options(std::move(options)))) {}

LinearSolver::LinearSolver(CsrView<double> const& a, SolverOptions options, Arrays arrays)
    : LinearSolver(std::move(options)) {
  set_matrix(a, arrays);
}

LinearSolver::LinearSolver(Context& ctx, CsrView<double> const& a, SolverOptions options,
                           Arrays arrays)
    : LinearSolver(ctx, std::move(options)) {
  set_matrix(a, arrays);
}

LinearSolver::LinearSolver(Context& ctx, OperatorPtr<double> A, SolverOptions options,
                           OperatorPtr<double> M)
    : LinearSolver(ctx, std::move(options)) {
  set_operator(std::move(A), std::move(M));
}

LinearSolver LinearSolver::from_yaml(CsrView<double> const& a, std::string const& text) {
  return LinearSolver(a, SolverOptions::from_yaml(text));
}

LinearSolver LinearSolver::from_yaml(Context& ctx, CsrView<double> const& a,
                                     std::string const& text) {
  return LinearSolver(ctx, a, SolverOptions::from_yaml(text));
}

LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

void LinearSolver::set_nodes(NodeFacts nodes) {
  Context::Call const entry(impl_->ctx, "set_nodes()");
  impl_->options.nodes = std::make_shared<NodeFacts const>(std::move(nodes));
  impl_->system.know(impl_->options.nodes);
}

void LinearSolver::set_matrix(CsrView<double> const& a, Arrays arrays) {
  Context::Call const entry(impl_->ctx, "set_matrix()");
  if (a.space == Space::host && impl_->options.check_matrices) validate(a, NonFinite::keep);
  impl_->one_system().load(a, arrays);
}

void LinearSolver::set_matrix(DistributedMatrix a) {
  Context::Call const entry(impl_->ctx, "set_matrix()");
  or_fail(impl_->ctx, [&] { impl_->one_system().load(std::move(a)); });
}

void LinearSolver::set_matrix(Csr<double> a) {
  Context::Call const entry(impl_->ctx, "set_matrix()");
  if (impl_->options.check_matrices) validate(a.view(), NonFinite::keep);
  impl_->one_system().load(std::move(a));
}

void LinearSolver::set_caller_matrix(CallerCsr const& a, Arrays arrays) {
  require_types(a);
  if (a.plain()) return set_matrix(a.view(), arrays);
  if (a.space == Space::host) return set_matrix(tcsolve::converted(a));
  Context::Call const entry(impl_->ctx, "set_matrix()");
  CsrStorage<double> made = impl_->converted_here(a);
  PreparedSystem& system = impl_->one_system();
  system.load(impl_->converted.emplace(std::move(made)).view(), Arrays::borrowed);
}

void LinearSolver::update_caller_values(CallerCsr const& a) {
  require_types(a);
  if (a.plain()) return update_values(a.view());
  if (impl_ == nullptr || !impl_->batch) with_matrix("update_values");
  Impl& impl = *impl_;
  Context::Call const entry(impl.ctx, "update_values()");
  CsrStorage<double> made = a.space == Space::host
                                ? CsrStorage<double>(impl.ctx, tcsolve::converted(a))
                                : impl.converted_here(a);
  update_values(made.view());
  impl.converted.emplace(std::move(made));  // which the system may borrow now
}

void LinearSolver::set_coo(CooView const& entries) {
  Impl& impl = *impl_;
  Context::Call const entry(impl.ctx, "set_coo()");
  AssembledMatrix made(impl.ctx, entries);
  PreparedSystem& system = impl.one_system();
  system.load(impl.assembled.emplace(std::move(made)).view(), Arrays::borrowed);
}

void LinearSolver::update_coo(std::span<double const> values, Space space) {
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("update_coo").ctx, "update_coo()");
  Impl& impl = with_matrix("update_coo");
  if (!impl.assembled)
    throw ShapeError("LinearSolver: update_coo() of a matrix that was not given by set_coo()");
  impl.assembled->update(values.data(), static_cast<Offset>(values.size()), space);
  update_values(impl.assembled->view());
}

void LinearSolver::set_operator(OperatorPtr<double> A, OperatorPtr<double> M,
                                OperatorPtr<double> A_true) {
  Context::Call const entry(impl_->ctx, "set_operator()");
  impl_->one_system().load(GivenOperators{std::move(A), std::move(M), std::move(A_true)});
}

void LinearSolver::set_systems(CsrView<double> const& a, std::vector<Index> const& starts,
                               Arrays arrays) {
  Impl& impl = *impl_;
  Context::Call const entry(impl.ctx, "set_systems()");
  if (a.space == Space::host && impl.options.check_matrices) validate(a, NonFinite::keep);
  impl.one_system().unload();
  try {
    impl.batch.emplace(impl.ctx, impl.options, impl.system.parts()).load(a, starts, arrays);
  } catch (...) {
    impl.batch.reset();
    throw;
  }
}

LinearSolver::Impl& LinearSolver::with_systems(char const* what) const {
  if (impl_ == nullptr || !impl_->batch)
    throw ShapeError(cat("LinearSolver: ", what, " without systems; call set_systems"));
  return *impl_;
}

LinearSolver::Impl& LinearSolver::with_matrix(char const* what) const {
  if (!ready()) throw ShapeError(cat("LinearSolver: ", what, " without a matrix; call set_matrix"));
  return *impl_;
}

void LinearSolver::update_values(CsrView<double> const& a) {
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("update_values").ctx,
                            "update_values()");
  if (!impl_->batch) {
    Impl& impl = with_matrix("update_values");
    try {
      impl.system.update_values(a);
      if (impl.transposed) impl.transposed->update_values(a);
    } catch (...) {
      impl.transposed.reset();
      throw;
    }
    return;
  }
  try {
    impl_->batch->update_values(a);
  } catch (ShapeError const&) { throw; } catch (...) {
    impl_->batch.reset();
    throw;
  }
}

void LinearSolver::update_values(std::span<double const> values, Space space) {
  Impl& impl = with_matrix("update_values");
  Context::Call const entry(impl.ctx, "update_values()");
  or_fail(impl.ctx, [&] {
    impl.transposed.reset();  // its rows are other ranks', too: a solve with A^T asks for them anew
    impl.system.update_values(values.data(), static_cast<Offset>(values.size()), space);
  });
}

void LinearSolver::refresh() {
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("refresh").ctx, "refresh()");
  Impl& impl = with_matrix("refresh");
  impl.transposed.reset();
  impl.system.refresh();
}

SolveReport LinearSolver::solve(In<double> b, Out<double> x, SolveCall const& call) {
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("solve").ctx, "solve()");
  Impl& impl = with_matrix("solve");
  double setup = 0;
  impl.require_alike(b, x, call);
  SolveReport report = impl.solve(call, x, setup, [&](PreparedSystem& system, auto const& keys) {
    return system.solve(b, x, keys);
  });
  report.setup_seconds += setup;
  return report;
}

SolveReport LinearSolver::solve(std::span<double const> b, std::span<double> x,
                                SolveCall const& call) {
  auto const length = [](auto v) { return narrow(static_cast<std::int64_t>(v.size()), "length"); };
  return solve(vector_view(b.data(), length(b)), vector_view(x.data(), length(x)), call);
}

SolveReport LinearSolver::solve(In<float> b, Out<float> x, SolveCall const& call) {
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("solve").ctx, "solve()");
  Impl& impl = with_matrix("solve");
  Context& ctx = impl.ctx;
  if (!b.is_vector() || !x.is_vector())
    throw Unsupported("LinearSolver: FP32 blocks; solve for a vector at a time");
  if (call.stream != nullptr) ctx.wait_for(call.stream);
  Array<double>& wide_b = impl.widened(b, impl.wide_b);
  bool const guess = !call.zero_guess && call.guess.data == nullptr;
  if (guess)
    impl.widened(x, impl.wide_x);
  else
    impl.wide_x.resize(ctx.space(), static_cast<std::size_t>(x.size()));
  SolveReport report = solve(std::as_const(wide_b).view(), impl.wide_x.view(), call);
  Array<float> there;
  float* to = x.data;
  if (x.space != ctx.space()) {
    there.resize(ctx.space(), static_cast<std::size_t>(x.size()));
    to = there.data();
  }
  convert_numbers(ctx, impl.wide_x.data(), to, NumberKind::f32, x.size());
  ctx.synchronize();
  if (to != x.data) copy_bytes(ctx, x.data, x.space, to, ctx.space(), there.bytes());
  return report;
}

SolveReport LinearSolver::solve(std::span<float const> b, std::span<float> x,
                                SolveCall const& call) {
  auto const length = [](auto v) { return narrow(static_cast<std::int64_t>(v.size()), "length"); };
  return solve(vector_view(b.data(), length(b)), vector_view(x.data(), length(x)), call);
}

std::vector<SolveReport> LinearSolver::solve_columns(In<double> b, Out<double> x,
                                                     SolveCall const& call) {
  if (b.cols != x.cols)
    throw ShapeError(cat("LinearSolver: b has ", b.cols, " columns, x has ", x.cols));
  Context::Call const entry(impl_ ? impl_->ctx : with_matrix("solve_columns").ctx,
                            "solve_columns()");
  Impl& impl = with_matrix("solve_columns");
  double setup = 0;
  impl.require_alike(b, x, call);
  auto reports = impl.solve(call, x, setup, [&](PreparedSystem& system, auto const& keys) {
    return system.solve_columns(b, x, keys);
  });
  if (!reports.empty()) reports.front().setup_seconds += setup;
  return reports;
}

BatchReport LinearSolver::solve_systems(In<double> b, Out<double> x, SolveCall const& call) {
  Context::Call const entry(impl_ ? impl_->ctx : with_systems("solve_systems").ctx,
                            "solve_systems()");
  Impl& impl = with_systems("solve_systems");
  if (call.transpose || has_limits(call))
    throw Unsupported("LinearSolver: solve_systems: A^T, or a tolerance or a limit for one call");
  SolveWatch const watch(impl.ctx, call);
  if (call.zero_guess) impl.make_zero(x);
  return impl.batch->solve(b, x);
}

BatchReport LinearSolver::solve_systems(std::span<double const> b, std::span<double> x,
                                        SolveCall const& call) {
  auto const length = [](auto v) { return narrow(static_cast<std::int64_t>(v.size()), "length"); };
  return solve_systems(vector_view(b.data(), length(b)), vector_view(x.data(), length(x)), call);
}

Index LinearSolver::systems() const { return impl_ && impl_->batch ? impl_->batch->count() : 0; }
bool LinearSolver::ready() const { return impl_ != nullptr && impl_->system.ready(); }
Context& LinearSolver::context() { return impl_->ctx; }
SolverParts const& LinearSolver::parts() const { return impl_->system.parts(); }
SolverOptions const& LinearSolver::options() const { return impl_->options; }
SetupReport const& LinearSolver::setup_report() const {
  return impl_->batch ? impl_->batch->report() : impl_->system.report();
}
OperatorPtr<double> LinearSolver::A() const { return impl_->system.A(); }
OperatorPtr<double> LinearSolver::M() const { return impl_->system.M(); }

std::string LinearSolver::format() const { return A() ? A()->name() : ""; }

}  // namespace tcsolve
