// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/match/structural_rank.hpp>

#include <algorithm>
#include <cstddef>

namespace tcsolve {
namespace {

constexpr Index unmatched = -1, unreached = -1;

class LargestMatching {
 public:
  LargestMatching(CsrView<double> const& a, CancelFlag cancel)
      : a_(a),
        cancel_(cancel),
        column_of_(static_cast<std::size_t>(a.rows), unmatched),
        row_of_(static_cast<std::size_t>(a.cols), unmatched),
        level_(static_cast<std::size_t>(a.rows)),
        next_(static_cast<std::size_t>(a.rows)) {}

  Index size() {
    match_greedily();
    while (find_levels()) {
      for (Index i = 0; i < a_.rows; ++i) next_[i] = a_.offsets[i];
      for (Index i = 0; i < a_.rows; ++i)
        if (column_of_[i] == unmatched) augment(i);
    }
    return matched_;
  }

 private:
  bool is_entry(Offset k) const { return a_.values[k] != 0; }

  void match(Index i, Index j) {
    column_of_[i] = j;
    row_of_[j] = i;
  }

  /// The diagonal first: most matrices have it.
  void match_greedily() {
    for (Index i = 0; i < a_.rows; ++i)
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1]; ++k)
        if (a_.columns[k] == i && is_entry(k)) match(i, i);
    for (Index i = 0; i < a_.rows; ++i)
      for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1] && column_of_[i] == unmatched; ++k)
        if (row_of_[a_.columns[k]] == unmatched && is_entry(k)) match(i, a_.columns[k]);
    matched_ = a_.rows - static_cast<Index>(std::ranges::count(column_of_, unmatched));
  }

  /// How many matched entries an alternating path from a free row needs to each row; whether one
  /// ends in a free column.
  bool find_levels() {
    std::vector<Index> front, behind;
    bool found = false;
    for (Index i = 0; i < a_.rows; ++i) {
      level_[i] = column_of_[i] == unmatched ? 0 : unreached;
      if (level_[i] == 0) front.push_back(i);
    }
    for (Index level = 1; !front.empty() && !found; ++level) {
      cancel_.check();
      behind.clear();
      for (Index const i : front)
        for (Offset k = a_.offsets[i]; k < a_.offsets[i + 1]; ++k) {
          if (!is_entry(k)) continue;
          Index const other = row_of_[a_.columns[k]];
          if (other == unmatched) {
            found = true;
          } else if (level_[other] == unreached) {
            level_[other] = level;
            behind.push_back(other);
          }
        }
      front.swap(behind);
    }
    return found;
  }

  /// A path from a free row through ascending levels to a free column, depth first, without
  /// recursion; next_ remembers which entries lead nowhere.
  void augment(Index start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      Index const i = path_.back();
      if (next_[i] == a_.offsets[i + 1]) {
        path_.pop_back();
        if (!path_.empty()) ++next_[path_.back()];
        continue;
      }
      Index const other = is_entry(next_[i]) ? row_of_[a_.columns[next_[i]]] : i;
      if (other == unmatched) return take_path();
      if (level_[other] == level_[i] + 1)
        path_.push_back(other);
      else
        ++next_[i];
    }
  }

  void take_path() {
    ++matched_;
    for (std::size_t d = path_.size(); d-- > 0;) {
      Index const i = path_[d];
      match(i, a_.columns[next_[i]]);
      ++next_[i];
    }
  }

  CsrView<double> const& a_;
  CancelFlag cancel_;
  std::vector<Index> column_of_, row_of_, level_;
  std::vector<Offset> next_;  // entry of each row to be looked at
  std::vector<Index> path_;   // rows
  Index matched_ = 0;
};

bool has_full_diagonal(CsrView<double> const& a) {
  for (Index i = 0; i < a.rows; ++i) {
    bool there = false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1] && !there; ++k)
      there = a.columns[k] == i && a.values[k] != 0;
    if (!there) return false;
  }
  return true;
}

}  // namespace

EmptyLines empty_lines(CsrView<double> const& a) {
  EmptyLines empty;
  std::vector<char> met(static_cast<std::size_t>(a.cols), 0);
  for (Index i = 0; i < a.rows; ++i) {
    bool some = false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (a.values[k] == 0) continue;
      some = true;
      met[static_cast<std::size_t>(a.columns[k])] = 1;
    }
    if (!some) empty.rows.push_back(i);
  }
  for (Index j = 0; j < a.cols; ++j)
    if (met[static_cast<std::size_t>(j)] == 0) empty.columns.push_back(j);
  return empty;
}

Index structural_rank(CsrView<double> const& a, CancelFlag cancel) {
  if (a.rows == a.cols && has_full_diagonal(a)) return a.rows;
  return LargestMatching(a, cancel).size();
}

}  // namespace tcsolve
