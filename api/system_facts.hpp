// SPDX-License-Identifier: Apache-2.0
/// What is known of a square system before any method is set up: equations `0 = b_i`, unknowns that
/// no equation has, and how many equations can be independent.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/graph/match/structural_rank.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// "row 13", "rows 13, 27 and 33", "rows 1, 2, 3, 4, 5 and 20 others": numbers from 1.
std::string lines_text(std::string const& kind, std::vector<Index> const& numbers);

class SystemFacts {
 public:
  SystemFacts() = default;
  /// Of a matrix on the host; nothing where it is not square. Cost: two passes; where the diagonal
  /// has zeros, structural_rank().
  explicit SystemFacts(CsrView<double> const& a, CancelFlag cancel = {});
  /// Of n rows and columns without a zero on the diagonal: none is empty, and the rank is n.
  explicit SystemFacts(Index n) : n_(n), rank_(n) {}
  /// Of n rows and columns of which these are empty, where no more is known: the rank is taken for
  /// the largest that there can be.
  SystemFacts(Index n, EmptyLines empty)
      : n_(n),
        rank_(n - static_cast<Index>(std::max(empty.rows.size(), empty.columns.size()))),
        empty_(std::move(empty)) {}

  /// Whether A is singular whatever its values are.
  bool is_singular() const { return rank_ < n_; }
  /// "A is singular: row 3 and column 4 are empty; its structural rank is 98 of 100"; "" where
  /// nothing is known.
  std::string text() const;
  /// "rows 13 and 27 of A are empty and b is not zero there: no x satisfies these equations"; ""
  /// where b is zero there. b: n entries on the host.
  std::string contradiction(double const* b) const;
  bool has_empty_rows() const { return !empty_.rows.empty(); }

  /// The report of a solve that no x can bring to its tolerance, x untouched: norm(b) in empty rows
  /// exceeds it. Nothing where it does not, or where the tolerance depends on x0.
  std::optional<SolveReport> unsolvable(double const* b, StoppingParams const&,
                                        std::string const& solver) const;

  /// The message for `last`, the report that methods which were tried in turn ended with: where A
  /// is known to be singular, or two of them found it so, the advice is about that and not the last
  /// method's own. A least-squares solution of a square system is said to be one of a singular A.
  /// minimised: the last method was to find the x that comes nearest to b.
  std::string closing(SolveReport const& last, std::vector<ChoiceReport> const& tried,
                      bool minimised = false) const;

 private:
  Index n_ = 0, rank_ = 0;
  EmptyLines empty_;
};

/// Whether a singular matrix ends a method, or a set-up, like this.
bool ends_as_if_singular(ChoiceReport const& told);

}  // namespace tcsolve
