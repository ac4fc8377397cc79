// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/reordered_solver.hpp>

#include <utility>

#include <tcsolve/solvers/driver/block_columns.hpp>
#include <tcsolve/solvers/driver/require_vectors.hpp>

namespace tcsolve {

ReorderedSolver::ReorderedSolver(std::shared_ptr<Solver> method, Permutation P)
    : method_(std::move(method)), P_(std::move(P)) {}

void ReorderedSolver::setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M,
                            OperatorPtr<double> A_true) {
  Index const n = P_.size();
  if (A && (A->rows() != n || A->cols() != n))
    throw ShapeError(cat(name(), ": A is ", A->rows(), " x ", A->cols(), ", its permutation has ",
                         n, " elements; A is a square matrix in the new numbers"));
  method_->setup(ctx, std::move(A), std::move(M), std::move(A_true));
  // A setup() with new values in the same Context finds everything where it was.
  if (!same_home(b_.view().space, ctx.space()) || b_.rows() != n) {
    auto const there = [&](std::span<Index const> numbers) {
      return to_space(ctx, numbers.data(), numbers.size());
    };
    old_numbers_ = there(P_.old_numbers());
    new_numbers_ = there(P_.new_numbers());
    b_ = Vector<double>(ctx.space(), n);
    x_ = Vector<double>(ctx.space(), n);
    staged_ = {};
  }
  ctx_ = &ctx;
}

SolveReport ReorderedSolver::solve(In<double> b, Out<double> x) {
  check_vectors(b, x);
  Context::Entry const entry(*ctx_);
  enter(b, b_);
  enter(x, x_);
  SolveReport report;
  try {
    report = method_->solve(b_, x_);
  } catch (...) {
    try {
      leave(x_, x);   // what the method had reached
    } catch (...) {}  // of a device in error: the first exception is the one to report
    throw;
  }
  leave(x_, x);
  return report;
}

std::vector<SolveReport> ReorderedSolver::solve_columns(In<double> b, Out<double> x) {
  if (columns_at_once() == 1) return Solver::solve_columns(b, x);
  if (ctx_ == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
  if (b.cols != x.cols)
    throw ShapeError(cat(name(), ": b has ", b.cols, " columns, x has ", x.cols));
  for (Index j = 0; j < b.cols; ++j)
    require_vectors(name(), P_.size(), P_.size(), column(b, j), column(x, j));
  Context& ctx = *ctx_;
  Context::Entry const entry(ctx);
  for (MultiVector<double>* v : {&block_b_, &block_x_, &block_staged_})
    v->resize(ctx.space(), P_.size(), b.cols);
  for (auto const& [from, to] : {std::pair{b, &block_b_}, {In<double>(x), &block_x_}}) {
    fetch(ctx, name(), from, block_staged_);
    permute<double>(ctx, old_numbers_.data(), block_staged_, *to);
  }
  std::vector<SolveReport> reports = method_->solve_columns(block_b_, block_x_);
  permute<double>(ctx, new_numbers_.data(), block_x_, block_staged_);
  deliver(ctx, name(), block_staged_, x);
  return reports;
}

SolveReport ReorderedSolver::approximate(In<double> b, Out<double> x) {
  check_vectors(b, x);
  Context::Entry const entry(*ctx_);
  enter(b, b_);
  SolveReport report = method_->approximate(b_, x_);
  leave(x_, x);
  return report;
}

/// The promises of KrylovSolver::solve, which sees other vectors.
void ReorderedSolver::check_vectors(In<double> b, Out<double> x) const {
  if (ctx_ == nullptr) throw ShapeError(cat(name(), ": solve before setup"));
  require_vectors(name(), P_.size(), P_.size(), b, x);
  for (In<double> const v : {b, In<double>(x)})
    if (v.space != ctx_->space() && !v.is_vector())
      throw ShapeError(cat(name(), ": a strided vector must lie in the Context's space"));
}

/// there = P v.
void ReorderedSolver::enter(In<double> v, Out<double> there) {
  if (v.space != ctx_->space()) {
    Out<double> const here = staged();
    copy_bytes(*ctx_, here.data, here.space, v.data, v.space, sizeof(double) * v.rows);
    v = here;
  }
  permute<double>(*ctx_, old_numbers_.data(), v, there);
}

/// v = P^T there, complete on return.
void ReorderedSolver::leave(In<double> there, Out<double> v) {
  bool const here = v.space == ctx_->space();
  Out<double> const to = here ? v : staged();
  permute<double>(*ctx_, new_numbers_.data(), there, to);
  if (here)
    ctx_->synchronize();
  else
    copy_bytes(*ctx_, v.data, v.space, to.data, to.space, sizeof(double) * v.rows);
}

Out<double> ReorderedSolver::staged() {
  if (staged_.rows() != P_.size()) staged_ = Vector<double>(ctx_->space(), P_.size());
  return staged_;
}

SolverCost ReorderedSolver::cost() const {
  SolverCost cost = method_->cost();
  cost.vectors += 4;
  return cost;
}

}  // namespace tcsolve
