// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/triangle.hpp>

#include <algorithm>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve {

LevelOrder level_order(Csr<double> const& triangle, bool lower) {
  Index const n = triangle.rows;
  std::vector<Index> level(n, 0);
  Index levels = n > 0 ? 1 : 0;
  for (Index r = 0; r < n; ++r) {
    Index const i = lower ? r : n - 1 - r;
    for (Index const j : triangle.row_columns(i)) level[i] = std::max(level[i], level[j] + 1);
    levels = std::max(levels, level[i] + 1);
  }
  LevelOrder order;
  order.starts.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (Index const l : level) ++order.starts[l + 1];
  for (Index l = 0; l < levels; ++l) {
    Index const padded = (order.starts[l + 1] + rows_of_warp - 1) / rows_of_warp * rows_of_warp;
    order.starts[l + 1] = narrow(std::int64_t{order.starts[l]} + padded, "places of a triangle");
  }
  order.row_of.assign(static_cast<std::size_t>(order.starts[levels]), -1);
  std::vector<Index> next(order.starts.begin(), order.starts.end() - (levels > 0));
  for (Index i = 0; i < n; ++i) order.row_of[next[level[i]]++] = i;
  return order;
}

LevelSchedule to_space(Context& ctx, LevelOrder const& order) {
  return {to_space(ctx, order.row_of.data(), order.row_of.size()),
          to_space(ctx, order.starts.data(), order.starts.size()), order.levels(),
          static_cast<Index>(order.row_of.size())};
}

LevelOrder to_host(Context& ctx, LevelSchedule const& schedule) {
  return {to_host(ctx, schedule.row_of), to_host(ctx, schedule.starts)};
}

namespace host {

namespace {

/// Row i for `fixed` right-hand sides, or, where that is 0, as many as there are.
template <int fixed, class S>
void solve_row(TriangleView<S> const& t, TriangleSolve const& s, Index i, double* y) {
  Index const columns = fixed > 0 ? fixed : s.columns, width = fixed > 0 ? fixed : s.width;
  double sum[fixed > 0 ? fixed : TriangleSolve::most_columns];
  double const* const from = s.source + (s.from == nullptr ? i : s.from[i]) * s.stride;
  for (Index c = 0; c < columns; ++c) sum[c] = s.scale[i] * from[c * s.source_column];
  for (Offset k = t.begin[i], end = t.end[i]; k < end; ++k) {
    double const* const known = y + std::int64_t{t.columns[k]} * width;
    for (Index c = 0; c < columns; ++c) sum[c] -= double(t.values[k]) * known[c];
  }
  for (Index c = 0; c < columns; ++c) y[std::int64_t{i} * width + c] = sum[c];
  if (s.to == nullptr) return;
  for (Index c = 0; c < columns; ++c) {
    double& out = s.out[s.to[i] * s.out_stride + c * s.out_column];
    double const value = s.alpha * (s.factor[i] * sum[c]);
    out = s.beta == 0 ? value : value + s.beta * out;
  }
}

}  // namespace

template <class S>
void solve_triangle(Host&, TriangleView<S> const& t, LevelOrder const& order,
                    TriangleSolve const& s, double* y) {
  auto const row = [&](std::int64_t p) {
    Index const i = t.row_of[p];
    if (i < 0) return;
    s.columns == 1 && s.width == 1 ? solve_row<1>(t, s, i, y) : solve_row<0>(t, s, i, y);
  };
  std::int64_t const worth_sharing = 4096 / s.columns;  // rows of a level
  for (Index l = 0; l < order.levels(); ++l) {
    Index const begin = order.starts[l], count = order.starts[l + 1] - begin;
    parallel(count, worth_sharing, [&](std::int64_t p) { row(begin + p); });
  }
}

template <class S>
void solve_rows(Host&, TriangleView<S> const& t, std::span<Index const> rows,
                TriangleSolve const& s, double* y) {
  for (Index const i : rows) solve_row<1>(t, s, i, y);
}

template <class S>
void solve_groups(Host& on, TriangleView<S> const& t, TriangleMask const& mask,
                  TriangleSolve const& s, double* y) {
  auto const seen = [&](Index i) { return (mask.seen[i / 64] >> (i % 64) & 1) != 0; };
  for (Index k = 0; k < mask.state->groups; ++k)
    for (Index const i : std::span(t.row_of + std::int64_t{mask.groups[k]} * rows_of_warp,
                                   std::size_t{rows_of_warp}))
      if (i >= 0 && seen(i)) solve_rows(on, t, std::span(&i, 1), s, y);
  for (Index i = 0; s.to != nullptr && i < t.rows; ++i) {
    if (seen(i)) continue;
    double& out = s.out[s.to[i] * s.out_stride];
    out = s.beta == 0 ? 0 : s.beta * out;
  }
}

template void solve_rows<double>(Host&, TriangleView<double> const&, std::span<Index const>,
                                 TriangleSolve const&, double*);
template void solve_rows<float>(Host&, TriangleView<float> const&, std::span<Index const>,
                                TriangleSolve const&, double*);
template void solve_rows<half>(Host&, TriangleView<half> const&, std::span<Index const>,
                               TriangleSolve const&, double*);
template void solve_groups<double>(Host&, TriangleView<double> const&, TriangleMask const&,
                                   TriangleSolve const&, double*);
template void solve_groups<float>(Host&, TriangleView<float> const&, TriangleMask const&,
                                  TriangleSolve const&, double*);
template void solve_groups<half>(Host&, TriangleView<half> const&, TriangleMask const&,
                                 TriangleSolve const&, double*);
template void solve_triangle<double>(Host&, TriangleView<double> const&, LevelOrder const&,
                                     TriangleSolve const&, double*);
template void solve_triangle<float>(Host&, TriangleView<float> const&, LevelOrder const&,
                                    TriangleSolve const&, double*);
template void solve_triangle<half>(Host&, TriangleView<half> const&, LevelOrder const&,
                                   TriangleSolve const&, double*);

}  // namespace host
}  // namespace tcsolve
