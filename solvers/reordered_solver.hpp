// SPDX-License-Identifier: Apache-2.0
/// A solver of P A P^T for callers who know A: vectors are permuted once at each edge of a solve.
///
///     b' = P b,  x' = P x                  neither the method nor its operators know of P
///     solve (P A P^T) x' = b'
///     x = P^T x'
///
/// ||b' - P A P^T x'|| = ||b - A x||: tolerances, residuals and verdicts are those of A x = b, up
/// to the order in which sums round.
#pragma once

#include <memory>

#include <tcsolve/core/array.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

class ReorderedSolver final : public Solver {
 public:
  ReorderedSolver(std::shared_ptr<Solver> method, Permutation P);

  /// A, M and A_true in the new numbers: made of permuted(a, P). Throws ShapeError unless A is
  /// square and of P's size, and what the method's own setup() throws.
  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) override;

  /// b and x in the caller's numbers, as for every Solver. Cost beyond the method's: three
  /// permutations of a vector, and for b or x in another space than the Context's a copy of each.
  SolveReport solve(In<double> b, Out<double> x) override;
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x) override;
  SolveReport approximate(In<double> b, Out<double> x) override;

  Index columns_at_once() const override { return method_->columns_at_once(); }
  Permutation const& order() const { return P_; }
  std::string name() const override { return method_->name(); }
  Context* context() const override { return ctx_; }
  /// The method's, with P b, P x, a staged copy and two arrays of 32-bit numbers.
  SolverCost cost() const override;
  SolveLimits limits() const override { return method_->limits(); }
  SolverNeeds needs() const override { return method_->needs(); }
  Advice advice() const override { return method_->advice(); }

 private:
  void check_vectors(In<double> b, Out<double> x) const;
  void enter(In<double> v, Out<double> there);
  void leave(In<double> there, Out<double> v);
  Out<double> staged();

  std::shared_ptr<Solver> method_;
  Permutation P_;
  Context* ctx_ = nullptr;
  Array<Index> old_numbers_, new_numbers_;
  Vector<double> b_, x_, staged_;
  MultiVector<double> block_b_, block_x_, block_staged_;  // of solve_columns()
};

}  // namespace tcsolve
