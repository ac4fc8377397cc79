// SPDX-License-Identifier: Apache-2.0
/// One right-hand side with a block method: its residual, cut into parts, is the block, and the
/// corrections of the parts are added (Grigori, Moufawad and Nataf 2016). Parts are FP64.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include <tcsolve/operators/column.hpp>
#include <tcsolve/solvers/driver/block_solver.hpp>
#include <tcsolve/solvers/driver/part_ops.hpp>

namespace tcsolve {

namespace {
constexpr double cg_passes = 12;  // over n values, of an iteration of one column
}

/// R = the residuals that a run begins with, scaled, or the parts of a single one.
template <class T>
void BlockSolver<T>::put_residuals(std::vector<ColumnScale> const& columns) {
  Context& ctx = *ctx_;
  auto scope = ctx.arena().scope();
  auto* const at = scope.template take<ColumnScale>(columns.size());
  copy_bytes(ctx, at, ctx.space(), columns.data(), Space::host,
             columns.size() * sizeof(ColumnScale));
  In<double> const r = residuals_;
  Out<T> const R = system_.R, to = system_.parts ? Out<T>(d_) : R;
  submit_columns(ctx, ScaleColumns<T>{to, at, r.data, r.ld, to.data});
  if constexpr (std::is_same_v<T, double>)
    if (system_.parts) submit(ctx, SplitParts{R.size(), R.rows, R.cols, to.data, R.data});
}

/// Column i of X, or the sum of all columns.
template <class T>
In<T> BlockSolver<T>::correction(Index i) {
  In<T> const X = system_.X;
  if constexpr (std::is_same_v<T, double>) {
    if (system_.parts) {
      submit(*ctx_, SumParts{X.rows, X.cols, X.data, d_.view().data});
      return d_;
    }
  }
  return column(X, i);
}

/// Bytes of an iteration with w columns.
template <class T>
double BlockSolver<T>::bytes_of(Index w, double passes) const {
  SolverCost const& each = facts_.cost;
  return each.products * system_.A->cost(w).bytes +
         (system_.preconditioned ? each.applications * system_.M->cost(w).bytes : 0.0) +
         passes * sizeof(T) * system_.A->cols() * w;
}

/// Whether the parts paid: what an iteration costs beside one of a single column and, where it was
/// asked for, whether a single column gets there for the same bytes. Both begin at x = 0, or they
/// are not compared. The b of the solve lies in B_.
template <class T>
std::string BlockSolver<T>::verdict_on_parts(SolveReport const& report, bool from_zero,
                                             Clock::time_point start) {
  double const ratio = bytes_of(parts_, facts_.cost.passes) / bytes_of(1, cg_passes);
  auto const worth = static_cast<Index>(std::ceil(report.iterations * ratio));
  std::string text = cat("; in ", parts_, " parts, ", report.iterations,
                         report.iterations == 1 ? " iteration of " : " iterations of ",
                         figure_text(ratio), " times the bytes of cg");
  bool const compares = compares_ && from_zero && report.converged() && report.iterations > 0;
  if (compares && compared_.empty()) {
    system_.parts = false;
    ColumnState c(judged_, 0);
    c.report.rhs_norm = report.rhs_norm;
    c.begin_from(report.rhs_norm, report.tolerance);
    copy<double, double>(*ctx_, column(B_, 0), column<double>(residuals_, 0));
    constexpr char const* comparison = "comparing with one column";
    ctx_->emit(PhaseEvent{comparison, false, 0});
    Run const alone = run({&c}, worth, start, comparison);
    ctx_->emit(PhaseEvent{comparison, true, alone.seconds});
    auto const stop = static_cast<Stop>(alone.state.stop);
    Index const steps = alone.state.iteration;
    if (stop == Stop::claimed)
      compared_ = cat(": did not pay, cg takes ", steps);
    else if (stop == Stop::cycle_end && steps >= worth)
      compared_ = cat(": paid, cg is not there after ", steps);
  }
  if (compares && !compared_.empty()) return text + compared_;
  return cat(text, ": paid if cg takes more than ", worth);
}

#define TCSOLVE_INSTANTIATE(T)                                                    \
  template void BlockSolver<T>::put_residuals(std::vector<ColumnScale> const&);   \
  template In<T> BlockSolver<T>::correction(Index);                               \
  template double BlockSolver<T>::bytes_of(Index, double) const;                  \
  template std::string BlockSolver<T>::verdict_on_parts(SolveReport const&, bool, \
                                                        Clock::time_point);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
