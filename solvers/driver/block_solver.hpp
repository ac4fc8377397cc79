// SPDX-License-Identifier: Apache-2.0
/// The driver around a block method, for many right-hand sides at once. As that of one column
/// (solvers/driver/krylov_solver.hpp) it keeps B, X and all judgement; the method sees residuals,
/// each scaled by a power of two to a length in [1, 2), and makes corrections D from zero:
///
///     r_j = b_j - A_true x_j               FP64, column by column
///     until no column is left:
///       D = method(R)                      the columns that are left, as one block
///       r_j' = b_j - A_true (x_j + d_j)    summed exactly; kept where it is smaller
///       verdict on column j                as of a single solve (solvers/driver/column_judge.hpp)
///
/// A column that is zero, solved by its guess or not finite has its verdict before the first run
/// and never enters a block. A run ends when every column of the block claims to meet its own
/// tolerance, so a column may be iterated further than it asks for, or when the method asks for a
/// narrower block or begins anew after some steps; a method of independent columns lets each end by
/// itself. Columns without a verdict, also those that the true residual refutes, go on in the next
/// block.
///
/// Where the vectors or A are narrower than FP64 and the method can (MethodFacts::renews), r_j is
/// made anew before its recurrence has lost much, as KrylovSolver::renew() has it: the run of the
/// column ends, and in the next one it goes on with its direction, and so with what it has learnt
/// of A. A column whose claim the true residual refutes by far is begun again.
///
/// A single right-hand side may be cut into parts, whose sum is judged (enlarged.cpp).
///
/// A step is recorded for a number of columns, at the first solve that has so many and whenever a
/// block becomes narrower.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/solvers/driver/block_method.hpp>
#include <tcsolve/solvers/driver/column_judge.hpp>
#include <tcsolve/solvers/driver/column_ops.hpp>
#include <tcsolve/solvers/driver/solve_frame.hpp>
#include <tcsolve/solvers/loop/execution.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// A single right-hand side as a block of `count` parts; with `compare` a single column tries as
/// well, after the first solve of a set-up.
struct BlockParts {
  Index count = 1;
  bool compare = false;
};

/// T is the type of the method's vectors; b, x and the true residuals are FP64.
template <class T>
class BlockSolver : public Solver {
 public:
  /// At most `columns` at a time.
  BlockSolver(std::unique_ptr<BlockMethod<T>> method, StoppingParams const& stopping,
              Execution execution, Index columns, BlockParts parts = {});

  void setup(Context& ctx, OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
             OperatorPtr<double> A_true = nullptr) final;
  SolveReport solve(In<double> b, Out<double> x) final;
  /// A report for each column, in order, all within one time limit: a group that is not begun in
  /// it, or after a cancelled one, has its reason. `seconds`, the execution and the history are
  /// those of its block, the norm in the history being that of the column farthest from its
  /// tolerance, in terms of this one's tolerance; bytes are its share. x_j is the better of its
  /// guess and the last iterate of a run, by their true residuals.
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x) final;
  SolveReport approximate(In<double> b, Out<double> x) final;

  std::string name() const final { return facts_.name; }
  Context* context() const final { return ctx_; }
  SolverCost cost() const final {
    SolverCost cost = facts_.cost;
    cost.vectors += frame_.vectors();
    return cost;
  }
  void frame(Framing framing) final { frame_.set(std::move(framing)); }
  SolverNeeds needs() const final { return facts_.needs; }
  Real vectors() const final { return real_of<T>; }
  Advice advice() const final { return facts_.advice; }
  SolveLimits limits() const final {
    return {static_cast<double>(stopping_.max_iters), stopping_.time_limit};
  }
  bool renews() const final { return facts_.renews; }
  StoppingParams const* stops_by() const final { return &stopping_; }
  void stop_by(StoppingParams const&) final;
  Index columns_at_once() const final { return most_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A column while it is solved.
  struct ColumnState : ColumnJudge {
    ColumnState(JudgedSystem& system, Index column) : ColumnJudge(system), j(column) {}
    Index j;           ///< of the caller's block
    double goal = 0;   ///< of what is open, in the run at hand
    int exponent = 0;  ///< the method's r is 2^-exponent times the residual
    int vain = 0;      ///< renewals in a row that did not lower its true residual
    ColumnStart start = ColumnStart::anew;  ///< of the run to come
  };
  /// What a run of the method came to.
  struct Run {
    LoopState state;
    std::vector<double> measures;  ///< the largest ||r_j|| over its tolerance, after each step
    std::vector<ColumnEnd> ends;   ///< of the columns, where they end by themselves
    double seconds = 0;
    bool too_narrow = false;  ///< A is worse conditioned than StoppingParams::most_condition
  };
  void scale_operators(Context&, OperatorPtr<double> const& M);
  void size_for(Context&, Index columns);
  void record(Context&);
  double account(Context&, double steps);
  std::uint64_t revision() const { return system_.A->revision() + system_.M->revision(); }
  std::vector<SolveReport> solve_group(In<double> b, Out<double> x);
  void solve_inside(std::vector<ColumnState>&, Clock::time_point start, std::string& on_parts);
  void fetch(ColumnState const&);
  void open(std::vector<ColumnState>&);
  void open(ColumnState&);
  void iterate(std::vector<ColumnState*> active, Clock::time_point start);
  Run run(std::vector<ColumnState*> const& active, Index steps, Clock::time_point start,
          std::string const& called = "");
  ColumnEnd end_of(Run const&, Index i) const;
  void judge(ColumnState&, Run const&, Index i);
  void close(ColumnState&, Index together);
  void put_residuals(std::vector<ColumnScale> const&);
  In<T> correction(Index i);
  double bytes_of(Index w, double passes) const;
  std::string verdict_on_parts(SolveReport const&, bool from_zero, Clock::time_point start);
  void approach(ColumnState&, In<double> b, Out<double> x, Clock::time_point start);
  void approximate_more(ColumnState&, In<double> b, Out<double> x, Clock::time_point start);

  std::unique_ptr<BlockMethod<T>> method_;
  MethodFacts facts_;
  StoppingParams stopping_;
  Execution execution_;
  Index most_;
  Index parts_;           // of a single right-hand side
  bool compares_;         // with one column, once a set-up
  std::string compared_;  // what came of it
  Context* ctx_ = nullptr;
  BlockSystem<T> system_;
  SolveFrame frame_;
  JudgedSystem judged_;
  int exponent_ = 0;  // A is 2^-exponent times the operator given
  double const* measure2_ = nullptr;
  bool renews_ = false;  // columns go on with an r that was made anew, in the solve at hand
  Index width_ = 0;      // columns that a step is recorded for
  bool warned_ = false;  // of an M that varies
  bool recorded_parts_ = false;
  std::optional<Loop> loop_;
  std::uint64_t recorded_ = 0;  // the revision() that loop_ holds
  In<double> B_{};              // of the group at hand, row-major
  Out<double> X_{};             // likewise
  MultiVector<double> residuals_;
  Vector<double> b_, x_, r_, trial_;
  Vector<T> d_;
  InnerSolves inner_;
};

}  // namespace tcsolve
