// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/match/matching.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace tcsolve {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index nobody = -1;

/// The assignment problem with costs c_ij = log max_k |a_ik| - log |a_ij| >= 0: a matching of
/// smallest sum has the largest product. Dual variables u, v keep every reduced cost
/// c_ij - u_i - v_j >= 0, and 0 where i and j are matched.
class Assignment {
 public:
  Assignment(CsrView<double> const& a, CancelFlag cancel)
      : a_(a),
        at_times_(cancel, std::int64_t{1} << 19),
        cost_(static_cast<std::size_t>(a.entries), infinity),
        largest_(a.rows, 0.0),
        u_(a.rows, 0.0),
        v_(a.cols, infinity),
        row_of_(a.cols, nobody),
        column_of_(a.rows, nobody),
        distance_(a.cols, infinity),
        from_(a.cols, nobody) {
    for (Index i = 0; i < a.rows; ++i) weigh(i);
    for (double& v : v_)
      if (v == infinity) v = 0;  // a column of zeros
  }

  Matching solve() {
    match_greedily();
    for (Index i = 0; i < a_.rows; ++i) {
      if (column_of_[i] == nobody) augment(i);
    }
    return result();
  }

 private:
  void weigh(Index i) {
    Offset const begin = a_.offsets[i], end = a_.offsets[i + 1];
    at_times_.add(4 * (end - begin));  // logarithms
    for (Offset k = begin; k < end; ++k) {
      if (!std::isfinite(a_.values[k]))
        throw MatrixError(cat("matching: the value in row ", i + 1, ", column ", a_.columns[k] + 1,
                              " is not finite"));
      largest_[i] = std::max(largest_[i], std::abs(a_.values[k]));
    }
    double const largest = largest_[i] > 0 ? std::log(largest_[i]) : 0;
    for (Offset k = begin; k < end; ++k) {
      if (a_.values[k] == 0) continue;
      double const size = std::abs(a_.values[k]);
      cost_[k] = size == largest_[i] ? 0 : largest - std::log(size);
      double& v = v_[a_.columns[k]];
      v = std::min(v, cost_[k]);
    }
  }

  double reduced(Index i, Offset k) const { return cost_[k] - u_[i] - v_[a_.columns[k]]; }

  /// Takes entries of reduced cost 0 while row and column are free, or the column's row has
  /// another such entry in a free column.
  void match_greedily() {
    for (Index i = 0; i < a_.rows; ++i) {
      double least = infinity;
      at_times_.add(a_.offsets[i + 1] - a_.offsets[i]);
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1]; ++k)
        least = std::min(least, cost_[k] - v_[a_.columns[k]]);
      if (least < infinity) u_[i] = least;
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1] && column_of_[i] == nobody; ++k)
        if (reduced(i, k) == 0 && row_of_[a_.columns[k]] == nobody) match(i, a_.columns[k]);
    }
    for (Index i = 0; i < a_.rows; ++i) {
      if (column_of_[i] != nobody) continue;
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1] && column_of_[i] == nobody; ++k) {
        if (reduced(i, k) != 0) continue;
        Index const j = a_.columns[k], other = row_of_[j];
        at_times_.add(a_.offsets[other + 1] - a_.offsets[other]);
        for (Offset l = a_.offsets[other]; l < a_.offsets[other + 1]; ++l) {
          if (reduced(other, l) != 0 || row_of_[a_.columns[l]] != nobody) continue;
          match(other, a_.columns[l]);
          match(i, j);
          break;
        }
      }
    }
  }

  void match(Index i, Index j) {
    column_of_[i] = j;
    row_of_[j] = i;
  }

  /// Dijkstra from row `start` over alternating paths to the nearest free column (Duff and Koster
  /// 2001, figure 3). Leaves the row free where there is none.
  void augment(Index start) {
    using Item = std::pair<double, Index>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> open;
    near_.clear();
    reached_.clear();
    settled_.clear();
    double shortest = infinity, here = 0;
    Index end = nobody;
    for (Index i = start;;) {
      at_times_.add(4 + a_.offsets[i + 1] - a_.offsets[i]);
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1]; ++k) {
        if (cost_[k] == infinity) continue;
        Index const j = a_.columns[k];
        double const length = here + std::max(0.0, reduced(i, k));
        if (length >= shortest || length >= distance_[j]) continue;
        if (distance_[j] == infinity) reached_.push_back(j);
        distance_[j] = length;
        from_[j] = i;
        if (row_of_[j] == nobody) {
          shortest = length;
          end = j;
        } else if (length == here) {
          near_.push_back(j);
        } else {
          open.push({length, j});
        }
      }
      if (shortest <= here) break;
      Index j;
      if (!near_.empty()) {
        j = near_.back();
        near_.pop_back();
      } else {
        while (!open.empty() && open.top().first > distance_[open.top().second]) open.pop();
        if (open.empty() || open.top().first >= shortest) break;
        j = open.top().second;
        here = open.top().first;
        open.pop();
      }
      settled_.push_back(j);
      i = row_of_[j];
    }
    if (end != nobody) {
      u_[start] += shortest;
      for (Index const j : settled_) {
        u_[row_of_[j]] += shortest - distance_[j];
        v_[j] -= shortest - distance_[j];
      }
      for (Index j = end;;) {
        Index const i = from_[j], next = column_of_[i];
        match(i, j);
        if (i == start) break;
        j = next;
      }
    }
    for (Index const j : reached_) distance_[j] = infinity;
  }

  Matching result() {
    Matching m;
    std::size_t const n = row_of_.size();
    m.rows.assign(n, 1.0);
    m.columns.assign(n, 1.0);
    Index free_row = 0;
    for (Index j = 0; j < a_.cols; ++j) {
      m.rank += row_of_[j] != nobody;
      m.columns[j] = within(std::exp(v_[j]));
    }
    for (Index i = 0; i < a_.rows; ++i)
      m.rows[i] = largest_[i] > 0 ? within(std::exp(u_[i]) / largest_[i]) : 1.0;
    for (Index j = 0; j < a_.cols; ++j) {
      if (row_of_[j] != nobody) continue;
      while (column_of_[free_row] != nobody) ++free_row;
      match(free_row, j);
    }
    m.row_of = std::move(row_of_);
    return m;
  }

  /// A factor that neither overflows nor underflows in a product with another.
  static double within(double factor) { return std::clamp(factor, 0x1p-500, 0x1p+500); }

  CsrView<double> const& a_;
  CancelEvery at_times_;  // by entries
  std::vector<double> cost_, largest_, u_, v_;
  std::vector<Index> row_of_, column_of_;
  std::vector<double> distance_;  // of columns from the row that is being augmented
  std::vector<Index> from_;
  std::vector<Index> reached_, settled_;
  std::vector<Index> near_;  // reached at the distance of the row at hand: many costs are equal
};

}  // namespace

bool Matching::is_diagonal() const {
  for (Index j = 0; j < static_cast<Index>(row_of.size()); ++j)
    if (row_of[j] != j) return false;
  return true;
}

Matching maximum_product_matching(CsrView<double> const& a, CancelFlag cancel) {
  if (a.rows != a.cols || a.space != Space::host)
    throw ShapeError(cat("matching: the matrix is ", a.rows, " x ", a.cols, " on the ",
                         name(a.space), "; needed is a square one on the host"));
  return Assignment(a, cancel).solve();
}

}  // namespace tcsolve
