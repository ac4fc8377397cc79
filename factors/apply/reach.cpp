// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/reach.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <tcsolve/core/half.hpp>

namespace tcsolve {

template <class S>
TriangleReach::TriangleReach(TriangleView<S> const& t)
    : starts_(static_cast<std::size_t>(t.rows) + 1, 0),
      seen_(static_cast<std::size_t>(t.rows), 0),
      order_(static_cast<std::size_t>(t.rows)) {
  for (Index i = 0; i < t.rows; ++i)
    for (Offset k = t.begin[i]; k < t.end[i]; ++k) ++starts_[t.columns[k] + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  rows_of_.resize(static_cast<std::size_t>(starts_.back()));
  std::vector<Offset> next(starts_.begin(), starts_.end() - 1);
  for (Index i = 0; i < t.rows; ++i)
    for (Offset k = t.begin[i]; k < t.end[i]; ++k) rows_of_[next[t.columns[k]]++] = i;
}

TriangleReach::Found TriangleReach::of(std::span<Index const> rows, Offset most) {
  if (search_ == std::numeric_limits<Index>::max()) {
    std::ranges::fill(seen_, 0);
    search_ = 0;
  }
  ++search_;
  std::size_t first = order_.size();
  Offset visited = 0;
  auto const open = [&](Index j) {
    seen_[j] = search_;
    visited += starts_[j + 1] - starts_[j];
    path_.push_back({j, starts_[j]});
  };
  for (Index const row : rows) {
    if (seen_[row] == search_) continue;
    path_.clear();
    open(row);
    while (!path_.empty() && visited <= most) {
      Open& here = path_.back();
      Offset const end = starts_[here.column + 1];
      while (here.next < end && seen_[rows_of_[here.next]] == search_) ++here.next;
      if (here.next < end) {
        open(rows_of_[here.next++]);
      } else {
        order_[--first] = here.column;
        path_.pop_back();
      }
    }
    if (visited > most) return {.visited = visited};
  }
  return {true, std::span(order_).subspan(first), visited};
}

template TriangleReach::TriangleReach(TriangleView<double> const&);
template TriangleReach::TriangleReach(TriangleView<float> const&);
template TriangleReach::TriangleReach(TriangleView<half> const&);

}  // namespace tcsolve
