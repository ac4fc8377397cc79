// SPDX-License-Identifier: Apache-2.0
/// deal.II: systems of SparseMatrix<double> and Vector<double>.
///
///     tcsolve::dealii::Solver solver("{solver: {type: cg, rtol: 1e-10}, preconditioner: {type: ic}}");
///     solver.solve(A, x, b);                        // x: the guess, then the answer
///
/// A row of deal.II's begins with its diagonal, so that A is given by entries, whose places are
/// found once. A matrix on the pattern of the one before, as a pass over it tells, is taken as new
/// values.
#pragma once

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <span>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>

namespace tcsolve::dealii {

class Solver {
 public:
  /// options: YAML or JSON text with the keys of docs/reference.
  explicit Solver(std::string const& options = "{solver: auto, preconditioner: auto}")
      : solver_(SolverOptions::from_yaml(options)) {}

  /// Whether solve() throws where it does not solve: as deal.II's own solvers, unless it is told
  /// not to; then `report().solved()` is to be asked.
  bool throws = true;

  /// x <- an approximation of A^-1 b (`transpose`: of A^-T b). Throws SolverControl::NoConvergence,
  /// with the iterations and the true residual, where it is not solved; x has the best that was
  /// found. `report()` says why.
  void solve(::dealii::SparseMatrix<double> const& A, ::dealii::Vector<double>& x,
             ::dealii::Vector<double> const& b, bool transpose = false) {
    if (take(A))
      solver_.update_coo(values_);
    else
      solver_.set_coo({rows_, cols_, static_cast<Offset>(values_.size()), i_.data(), j_.data(),
                       values_.data()});
    report_ = solver_.solve(std::span(b.begin(), b.size()), std::span(x.begin(), x.size()),
                            {.transpose = transpose});
    if (throws && !report_.solved())
      throw ::dealii::SolverControl::NoConvergence(static_cast<unsigned>(report_.iterations),
                                                   report_.true_residual);
  }
  SolveReport const& report() const { return report_; }
  LinearSolver& solver() { return solver_; }

 private:
  /// The entries of A; whether their places are those of the matrix before.
  bool take(::dealii::SparseMatrix<double> const& A) {
    Index const rows = narrow(static_cast<std::int64_t>(A.m()), "rows"),
                cols = narrow(static_cast<std::int64_t>(A.n()), "cols");
    bool same = solver_.ready() && rows == rows_ && cols == cols_ &&
                values_.size() == A.n_nonzero_elements();
    rows_ = rows, cols_ = cols;
    for (auto* const numbers : {&i_, &j_}) numbers->resize(A.n_nonzero_elements());
    values_.resize(A.n_nonzero_elements());
    std::size_t k = 0;
    for (auto const& entry : A) {
      auto const i = static_cast<Index>(entry.row()), j = static_cast<Index>(entry.column());
      same = same && i_[k] == i && j_[k] == j;
      i_[k] = i, j_[k] = j, values_[k++] = entry.value();
    }
    return same;
  }

  Index rows_ = 0, cols_ = 0;
  std::vector<Index> i_, j_;
  std::vector<double> values_;
  LinearSolver solver_;
  SolveReport report_;
};

}  // namespace tcsolve::dealii
