// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/projected_solver.hpp>

#include <cmath>
#include <utility>

#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {
namespace {

/// ||A z|| of a null vector, relative to ||A||, that rounding in z and in the entries explains.
constexpr double of_a_null_vector = 1e-8;

}  // namespace

ProjectedSolver::ProjectedSolver(std::shared_ptr<Solver> method,
                                 std::vector<std::vector<double>> vectors)
    : method_(std::move(method)), given_(std::move(vectors)) {}

void ProjectedSolver::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                            OperatorPtr<double> A_true) {
  if (!A) throw ShapeError("nullspace: the operator is null");
  if (!P_ || ctx_ != &ctx) P_ = std::make_shared<Projection>(ctx, given_);
  ctx_ = &ctx;
  Index const n = P_->rows();
  if (A->rows() != n || A->cols() != n)
    throw ShapeError(
        cat("nullspace: A is ", A->rows(), " x ", A->cols(), ", its vectors have ", n, " entries"));
  if (b_.rows() != n) {
    b_ = Vector<double>(ctx.space(), n);
    x_ = Vector<double>(ctx.space(), n);
    t_ = Vector<double>(ctx.space(), n);
  }
  check(A_true ? A_true : A);
  method_->setup(ctx, A, projected(std::move(M)), A_true);
}

/// That A Z = 0, and whether A^T Z = 0: z^T A v of random v is then rounding. Formats need not have
/// a transpose for it.
void ProjectedSolver::check(OperatorPtr<double> const& A) {
  double const size = A->norm_estimate();
  double const limit = of_a_null_vector * (std::isfinite(size) ? size : 1.0);
  for (Index k = 0; k < P_->vectors(); ++k) {
    A->apply(*ctx_, P_->z(k), t_);
    if (double const product = length(t_); !(product <= limit))
      throw SetupError(cat("nullspace: ||A z|| = ", product, " for vector ", k + 1,
                           " of unit length, and A is of size ", size,
                           ": the vector is not in the nullspace of A"));
  }
  left_ = true;
  constexpr int probes = 3;
  for (int probe = 0; probe < probes; ++probe) {
    submit(*ctx_, Random<double>{x_.rows(), ctx_->options().seed + 200 + probe, x_.view().data});
    double const v = length(x_);
    A->apply(*ctx_, x_, t_);
    axpby<double, double>(*ctx_, 1.0, t_, 0.0, b_.view());
    P_->apply(*ctx_, -1.0, t_, 1.0, b_);  // Z Z^T A v
    left_ = left_ && length(b_) <= limit * v;
  }
}

OperatorPtr<double> ProjectedSolver::projected(OperatorPtr<double> M) const {
  if (!M) return nullptr;
  OperatorPtr<double> inner = std::move(M);
  if (left_) inner = std::make_shared<Product<double>>(inner, P_);
  return std::make_shared<Product<double>>(P_, inner);
}

double ProjectedSolver::length(In<double> v) {
  auto scope = ctx_->arena().scope();
  Out<double> const square = scope.template vectors<double>(1, 1);
  dot<double>(*ctx_, v, v, square.data);
  return std::sqrt(to_host(*ctx_, square.data, ctx_->space(), 1).front());
}

/// there = v, which may lie in another space.
void ProjectedSolver::to(Out<double> there, In<double> v) {
  if (v.space == there.space && !v.is_vector())
    copy<double, double>(*ctx_, v, there);
  else
    copy_bytes(*ctx_, there.data, there.space, v.data, v.space, sizeof(double) * v.rows);
}

/// x = P x_, complete on return.
void ProjectedSolver::leave(Out<double> x) {
  P_->apply(*ctx_, x_, t_);
  if (x.space == ctx_->space() && !x.is_vector()) {
    copy<double, double>(*ctx_, t_, x);
    ctx_->synchronize();
  } else {
    copy_bytes(*ctx_, x.data, x.space, t_.view().data, ctx_->space(), sizeof(double) * x.rows);
  }
}

SolveReport ProjectedSolver::solve(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
  if (b.rows != P_->rows() || x.rows != P_->rows() || b.cols != 1 || x.cols != 1)
    throw ShapeError(cat(name(), ": b and x are vectors of ", P_->rows(), " entries"));
  Context::Entry const entry(*ctx_);
  to(t_, b);
  to(x_, x);
  double const whole = length(t_);
  P_->apply(*ctx_, t_, b_);
  axpby<double, double>(*ctx_, -1.0, b_, 1.0, t_.view());
  double const outside = length(t_);
  if (!left_) to(b_, b);
  SolveReport report;
  try {
    report = method_->solve(b_, x_);
  } catch (...) {
    try {
      leave(x);       // what the method had reached
    } catch (...) {}  // of a device in error: the first exception is the one to report
    throw;
  }
  leave(x);
  if (!left_ || !std::isfinite(whole)) return report;
  // The part outside the range of A is orthogonal to every residual of the projected system.
  report.rhs_norm = whole;
  report.true_residual = std::hypot(report.true_residual, outside);
  report.initial_residual = std::hypot(report.initial_residual, outside);
  if (report.converged() && report.true_residual > report.tolerance) {
    report.reason = Stop::least_squares;
    report.cause = Cause::inconsistent;
    report.message =
        cat(name(), ": least_squares after ", report.iterations,
            report.iterations == 1 ? " iteration" : " iterations", ": b has a part of norm ",
            figure_text(outside), " in the nullspace, outside the range of A; ",
            outside > report.tolerance
                ? "x solves the system without it, and no x has a smaller residual"
                : "with what is left of the rest it exceeds the tolerance; a smaller rtol helps");
  }
  return report;
}

SolveReport ProjectedSolver::approximate(In<double> b, Out<double> x) {
  if (ctx_ == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
  P_->apply(*ctx_, b, b_);
  SolveReport report = method_->approximate(left_ ? In<double>(b_.view()) : b, x_);
  P_->apply(*ctx_, x_, x);
  return report;
}

SolverCost ProjectedSolver::cost() const {
  SolverCost cost = method_->cost();
  cost.vectors += 3 + static_cast<double>(given_.size());
  return cost;
}

}  // namespace tcsolve
