// SPDX-License-Identifier: Apache-2.0
/// deal.II: systems of SparseMatrix<double> and Vector<double>.
///
///     tcsolve::dealii::Solver solver("{solver: {type: cg, rtol: 1e-10}, preconditioner: {type: ic}}");
///     solver.solve(A, x, b);                        // x: the guess, then the answer
///
/// A row of deal.II's begins with its diagonal; it is sorted into place once. A matrix on the
/// pattern of the one before, which a pass over its columns finds out, is taken as new values.
#pragma once

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
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
    if (!take_values(A)) {
      take_pattern(A);
      solver_.set_matrix(view(), Arrays::borrowed);
    } else {
      solver_.update_values(view());
    }
    report_ = solver_.solve(std::span(b.begin(), b.size()), std::span(x.begin(), x.size()),
                            {.transpose = transpose});
    if (throws && !report_.solved())
      throw ::dealii::SolverControl::NoConvergence(static_cast<unsigned>(report_.iterations),
                                                   report_.true_residual);
  }
  SolveReport const& report() const { return report_; }
  LinearSolver& solver() { return solver_; }

 private:
  CsrView<double> view() const {
    return {rows_,           cols_,           static_cast<Offset>(columns_.size()),
            offsets_.data(), columns_.data(), values_.data(),
            Space::host};
  }
  /// The values of A, if its columns are those that are known.
  bool take_values(::dealii::SparseMatrix<double> const& A) {
    if (A.m() != static_cast<std::size_t>(rows_) || A.n_nonzero_elements() != columns_.size() ||
        columns_.empty())
      return false;
    std::size_t k = 0;
    for (auto const& entry : A) {
      std::size_t const place = places_[k++];
      if (static_cast<std::size_t>(columns_[place]) != entry.column()) return false;
      values_[place] = entry.value();
    }
    return true;
  }
  void take_pattern(::dealii::SparseMatrix<double> const& A) {
    rows_ = narrow(static_cast<std::int64_t>(A.m()), "rows"),
    cols_ = narrow(static_cast<std::int64_t>(A.n()), "cols");
    offsets_ = {0}, columns_.clear(), values_.clear(), places_.clear();
    std::vector<std::pair<Index, std::size_t>> row;  // column, entry of deal.II's
    for (std::size_t i = 0; i < A.m(); ++i) {
      std::size_t const begin = places_.size();
      row.clear();
      for (auto entry = A.begin(i); entry != A.end(i); ++entry) {
        row.emplace_back(static_cast<Index>(entry->column()), begin + row.size());
        values_.push_back(entry->value());
      }
      std::ranges::sort(row);
      std::vector<double> const given(values_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      values_.end());
      places_.resize(begin + row.size());
      for (std::size_t k = 0; k < row.size(); ++k) {
        columns_.push_back(row[k].first);
        values_[begin + k] = given[row[k].second - begin];
        places_[row[k].second] = begin + k;
      }
      offsets_.push_back(static_cast<Offset>(columns_.size()));
    }
  }

  std::vector<Offset> offsets_;
  std::vector<Index> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> places_;  // entry k of deal.II's is entry places_[k]
  Index rows_ = 0, cols_ = 0;
  LinearSolver solver_;  // borrows the arrays above
  SolveReport report_;
};

}  // namespace tcsolve::dealii
