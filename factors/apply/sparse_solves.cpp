// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/sparse_solves.hpp>

#include <tcsolve/core/half.hpp>

namespace tcsolve {
namespace {

constexpr Index few_of = 32;       // one in so many rows
constexpr Offset small_part = 16;  // one in so many entries of a triangle

/// f(j) for each entry of the source until f returns false. Returns whether it always was true.
template <class F>
bool each_entry(TriangleSolve const& down, Index rows, F const& f) {
  for (Index j = 0; j < rows; ++j)
    if (down.source[j * down.stride] != 0 && !f(j)) return false;  // NaN != 0
  return true;
}

}  // namespace

template <class S>
bool SparseSolves<S>::few_entries(TriangleSolve const& down, Index rows) {
  Index count = 0;
  return each_entry(down, rows, [&](Index) { return ++count <= rows / few_of; });
}

template <class S>
void SparseSolves<S>::prepare(Triangles const& t) {
  lower_.emplace(t.lower);
  upper_.emplace(t.upper);
  row_of_.resize(static_cast<std::size_t>(t.rows));
  for (Index i = 0; i < t.rows; ++i) row_of_[t.down.from[i]] = i;
  y_.assign(static_cast<std::size_t>(t.lower.rows), 0.0);
  z_.assign(static_cast<std::size_t>(t.rows), 0.0);
  saved_ = worth_patterns * (lower_->entries() + upper_->entries());
}

template <class S>
bool SparseSolves<S>::solve(host::Host& on, Triangles const& t, double* z) {
  seeds_.clear();
  bool const few = each_entry(t.down, t.rows, [&](Index j) {
    seeds_.push_back(j);
    return static_cast<Index>(seeds_.size()) <= t.rows / few_of;
  });
  if (!few || asked_++ < worth_patterns) return false;
  if (!lower_) prepare(t);
  if (wasted_ > saved_) return false;
  for (Index& j : seeds_) j = row_of_[j];
  Offset const of_lower = lower_->entries(), of_upper = upper_->entries();
  TriangleReach::Found const down = lower_->of(seeds_, of_lower / small_part);
  if (!down.known) {
    wasted_ += down.visited;
    return false;
  }
  solve_rows(on, t.lower, down.rows, t.down, y_.data());
  Index const own = t.lower.rows - t.rows;  // unknowns of L that are not those of M
  seeds_.clear();
  for (Index const i : down.rows)
    if (i >= own) seeds_.push_back(i - own);
  TriangleSolve up = t.up;
  up.source = y_.data() + own;
  TriangleReach::Found const back = upper_->of(seeds_, of_upper / small_part);
  visited_ = down.visited + (back.known ? back.visited : of_upper);
  saved_ += of_lower + of_upper - visited_;
  if (back.known) {
    // out = beta out in all rows, and what the rows visited add.
    for (Index i = 0; i < t.rows; ++i) {
      double& out = up.out[i * up.out_stride];
      out = up.beta == 0 ? 0 : up.beta * out;
    }
    up.beta = 1;
    solve_rows(on, t.upper, back.rows, up, z_.data());
    for (Index const i : back.rows) z_[i] = 0;
  } else {
    wasted_ += back.visited;
    solve_triangle(on, t.upper, t.upper_order, up, z);
  }
  for (Index const i : down.rows) y_[i] = 0;
  return true;
}

template class SparseSolves<double>;
template class SparseSolves<float>;
template class SparseSolves<half>;

}  // namespace tcsolve
