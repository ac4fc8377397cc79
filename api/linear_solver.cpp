// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/linear_solver.hpp>

#include <optional>
#include <utility>

#include <tcsolve/api/prepared_batch.hpp>
#include <tcsolve/api/prepared_system.hpp>
#include <tcsolve/api/solve_watch.hpp>

namespace tcsolve {

struct LinearSolver::Impl {
  std::unique_ptr<Context> own;  // null: the caller's
  Context& ctx;
  SolverOptions options;
  PreparedSystem system;
  std::optional<PreparedBatch> batch;  // in the place of system

  /// Frees the systems, if there are some.
  PreparedSystem& one_system() {
    batch.reset();
    return system;
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

void LinearSolver::set_matrix(CsrView<double> const& a, Arrays arrays) {
  Context::Call const call(impl_->ctx, "set_matrix()");
  if (a.space == Space::host && impl_->options.check_matrices) validate(a, NonFinite::keep);
  impl_->one_system().load(a, arrays);
}

void LinearSolver::set_matrix(Csr<double> a) {
  Context::Call const call(impl_->ctx, "set_matrix()");
  if (impl_->options.check_matrices) validate(a.view(), NonFinite::keep);
  impl_->one_system().load(std::move(a));
}

void LinearSolver::set_operator(OperatorPtr<double> A, OperatorPtr<double> M,
                                OperatorPtr<double> A_true) {
  Context::Call const call(impl_->ctx, "set_operator()");
  impl_->one_system().load(GivenOperators{std::move(A), std::move(M), std::move(A_true)});
}

void LinearSolver::set_systems(CsrView<double> const& a, std::vector<Index> const& starts,
                               Arrays arrays) {
  Impl& impl = *impl_;
  Context::Call const call(impl.ctx, "set_systems()");
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
  Context::Call const call(impl_ ? impl_->ctx : with_matrix("update_values").ctx,
                           "update_values()");
  if (!impl_->batch) return with_matrix("update_values").system.update_values(a);
  try {
    impl_->batch->update_values(a);
  } catch (ShapeError const&) { throw; } catch (...) {
    impl_->batch.reset();
    throw;
  }
}

void LinearSolver::refresh() {
  Context::Call const call(impl_ ? impl_->ctx : with_matrix("refresh").ctx, "refresh()");
  with_matrix("refresh").system.refresh();
}

SolveReport LinearSolver::solve(In<double> b, Out<double> x, SolveCallbacks const& callbacks) {
  Context::Call const call(impl_ ? impl_->ctx : with_matrix("solve").ctx, "solve()");
  Impl& impl = with_matrix("solve");
  SolveWatch const watch(impl.ctx, callbacks);
  return impl.system.solve(b, x);
}

SolveReport LinearSolver::solve(std::span<double const> b, std::span<double> x,
                                SolveCallbacks const& callbacks) {
  auto const length = [](auto v) { return narrow(static_cast<std::int64_t>(v.size()), "length"); };
  return solve(vector_view(b.data(), length(b)), vector_view(x.data(), length(x)), callbacks);
}

std::vector<SolveReport> LinearSolver::solve_columns(In<double> b, Out<double> x,
                                                     SolveCallbacks const& callbacks) {
  if (b.cols != x.cols)
    throw ShapeError(cat("LinearSolver: b has ", b.cols, " columns, x has ", x.cols));
  Context::Call const call(impl_ ? impl_->ctx : with_matrix("solve_columns").ctx,
                           "solve_columns()");
  Impl& impl = with_matrix("solve_columns");
  SolveWatch const watch(impl.ctx, callbacks);
  return impl.system.solve_columns(b, x);
}

BatchReport LinearSolver::solve_systems(In<double> b, Out<double> x,
                                        SolveCallbacks const& callbacks) {
  Context::Call const call(impl_ ? impl_->ctx : with_systems("solve_systems").ctx,
                           "solve_systems()");
  Impl& impl = with_systems("solve_systems");
  SolveWatch const watch(impl.ctx, callbacks);
  return impl.batch->solve(b, x);
}

BatchReport LinearSolver::solve_systems(std::span<double const> b, std::span<double> x,
                                        SolveCallbacks const& callbacks) {
  auto const length = [](auto v) { return narrow(static_cast<std::int64_t>(v.size()), "length"); };
  return solve_systems(vector_view(b.data(), length(b)), vector_view(x.data(), length(x)),
                       callbacks);
}

Index LinearSolver::systems() const { return impl_ && impl_->batch ? impl_->batch->count() : 0; }
bool LinearSolver::ready() const { return impl_ != nullptr && impl_->system.solver() != nullptr; }
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
