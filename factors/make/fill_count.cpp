// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/fill_count.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <tcsolve/factors/make/reach.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {
namespace {

constexpr Index no_row = -1;

/// Rows with each level padded; level[i] is that of row i.
double padded_places(std::vector<Index> const& level) {
  std::vector<Index> rows;
  for (Index const l : level) {
    if (l >= static_cast<Index>(rows.size())) rows.resize(static_cast<std::size_t>(l) + 1, 0);
    ++rows[l];
  }
  double places = 0;
  for (Index const count : rows) places += (count + rows_of_warp - 1) / rows_of_warp * rows_of_warp;
  return places;
}

/// Of the strictly lower or upper triangle of B.
std::vector<Index> levels_of(Csr<double> const& B, bool lower) {
  std::vector<Index> level(B.rows, 0);
  for (Index r = 0; r < B.rows; ++r) {
    Index const i = lower ? r : B.rows - 1 - r;
    for (Index const j : B.row_columns(i))
      if (lower ? j < i : j > i) level[i] = std::max(level[i], level[j] + 1);
  }
  return level;
}

/// Of its blocks below or above the diagonal ones.
std::vector<Index> levels_of(Csr<double> const& B, bool lower, std::vector<Index> const& nodes) {
  std::vector<Index> level(B.rows, 0);
  std::size_t const count = nodes.size() - 1;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t const I = lower ? k : count - 1 - k;
    Index of_node = 0;
    for (Index const j : B.row_columns(nodes[I]))
      if (lower ? j < nodes[I] : j >= nodes[I + 1]) of_node = std::max(of_node, level[j] + 1);
    std::fill(level.begin() + nodes[I], level.begin() + nodes[I + 1], of_node);
  }
  return level;
}

/// Entries right of the diagonal that paths of at most `steps` steps reach, but for their last step
/// by rows before the one that they begin with; of every so-manieth row.
double reached_to_the_right(Context& ctx, Csr<double> const& B, int steps, Index every = 1) {
  auto const neighbours = [&](Index v, auto const& f) {
    for (Index const w : B.row_columns(v)) f(w);
  };
  return static_cast<double>(count_reached(
      ctx, B.rows, every, steps, neighbours, [](Index i, Index w) { return w > i; },
      [](Index i, Index w) { return w < i; }));
}

/// Up to eight parts of `sample` rows together: the rows nearest to some that lie evenly.
std::vector<std::vector<Index>> connected_parts(Csr<double> const& B, Index sample) {
  constexpr Index count = 8;
  Graph const graph = adjacency(Pattern(B));
  std::vector<bool> taken(static_cast<std::size_t>(B.rows), false);
  std::vector<std::vector<Index>> parts;
  for (Index k = 0; k < count; ++k) {
    std::vector<Index> part;
    auto const take = [&](Index i) {
      if (taken[i] || static_cast<Index>(part.size()) >= sample / count) return;
      taken[i] = true;
      part.push_back(i);
    };
    take(static_cast<Index>((2 * std::int64_t{k} + 1) * B.rows / (2 * count)));
    for (std::size_t at = 0; at < part.size(); ++at)
      for (Index const j : graph.of(part[at])) take(j);
    std::ranges::sort(part);
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

/// B_rows,rows, and of each row whether all of its entries are there.
std::pair<Csr<double>, std::vector<bool>> principal(Csr<double> const& B,
                                                    std::vector<Index> const& rows) {
  Csr<double> part;
  part.rows = part.cols = static_cast<Index>(rows.size());
  std::vector<bool> whole;
  for (Index const i : rows) {
    auto const columns = B.row_columns(i);
    auto const values = B.row_values(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      auto const at = std::ranges::lower_bound(rows, columns[k]);
      if (at == rows.end() || *at != columns[k]) continue;
      part.columns.push_back(static_cast<Index>(at - rows.begin()));
      part.values.push_back(values[k]);
    }
    whole.push_back(part.entries() - part.offsets.back() == static_cast<Offset>(columns.size()));
    part.offsets.push_back(part.entries());
  }
  return {std::move(part), std::move(whole)};
}

}  // namespace

FillCount count_of(TriangularFactors const& factors) {
  return {static_cast<double>(factors.lower.entries()),
          static_cast<double>(factors.upper.entries()),
          padded_places(levels_of(factors.lower, true)),
          padded_places(levels_of(factors.upper, false))};
}

FillCount count_by_level(Context& ctx, Csr<double> const& B, int level,
                         std::vector<Index> const& nodes) {
  Csr<double> const T = transpose(B.view());
  FillCount count;
  // Column i of L is row i of the factor U of B^T.
  count.lower = reached_to_the_right(ctx, T, level + 1);
  count.upper = reached_to_the_right(ctx, B, level + 1);
  if (nodes.empty()) {
    count.lower_places = padded_places(levels_of(B, true));
    count.upper_places = padded_places(levels_of(B, false));
    return count;
  }
  std::vector<Index> both = levels_of(B, true, nodes);  // of y and, a level later, of D^-1 y
  both.reserve(2 * both.size());
  for (Index i = 0; i < B.rows; ++i) both.push_back(both[i] + 1);
  count.lower_places = padded_places(both);
  count.upper_places = padded_places(levels_of(B, false, nodes));
  count.by_blocks = true;
  return count;
}

std::optional<FillCount> count_complete(Csr<double> const& B, Permutation const& P, Offset limit,
                                        CancelFlag cancel) {
  Index const n = B.rows;
  Csr<double> const moved = permuted(B.view(), P), T = transpose(moved.view());
  // height: of the subtree below a row, its level in L; depth: of a row below its root, in U.
  std::vector<Index> parent(n, no_row), seen_by(n, no_row), height(n, 0), depth(n, 0);
  Offset entries = 0;
  CancelEvery at_times(cancel, std::int64_t{1} << 20);
  for (Index i = 0; i < n; ++i) {
    at_times.add(1);
    seen_by[i] = i;
    for (Csr<double> const* part : {&moved, &T})
      for (Index const first : part->row_columns(i)) {
        if (first >= i) break;
        for (Index j = first; seen_by[j] != i; j = parent[j]) {
          if (parent[j] == no_row) {
            parent[j] = i;
            height[i] = std::max(height[i], height[j] + 1);
          }
          seen_by[j] = i;
          ++entries;
          at_times.add(1);
        }
      }
    if (limit > 0 && 2 * entries + n > limit) return std::nullopt;
  }
  for (Index i = n - 1; i >= 0; --i)
    if (parent[i] != no_row) depth[i] = depth[parent[i]] + 1;
  auto const count = static_cast<double>(entries);
  return FillCount{count, count, padded_places(height), padded_places(depth)};
}

FillCount count_unsymmetric(Context& ctx, Csr<double> const& B, Permutation const& P,
                            FillCount const& bound) {
  Csr<double> const moved = permuted(B.view(), P), T = transpose(moved.view());
  constexpr Index sample = 1024;
  Index const every = std::max<Index>(1, B.rows / sample);
  double const scale = B.rows / std::max(1.0, static_cast<double>(B.rows / every));
  FillCount count = bound;
  count.lower = scale * reached_to_the_right(ctx, T, B.rows, every);
  count.upper = scale * reached_to_the_right(ctx, moved, B.rows, every);
  return count;
}

FillCount count_by_size(Csr<double> const& B, Index sample,
                        std::function<TriangularFactors(Csr<double> const&)> const& factorise) {
  if (B.rows <= sample) return count_of(factorise(B));
  FillCount all, inner;
  double rows = 0, inner_rows = 0;
  for (std::vector<Index> const& part : connected_parts(B, sample)) {
    auto const [matrix, whole] = principal(B, part);
    TriangularFactors const made = factorise(matrix);
    FillCount const count = count_of(made);
    rows += made.lower.rows;
    all.lower += count.lower;
    all.upper += count.upper;
    all.lower_places += count.lower_places;
    all.upper_places += count.upper_places;
    for (Index i = 0; i < made.lower.rows; ++i) {
      if (!whole[i]) continue;
      inner_rows += 1;
      inner.lower += static_cast<double>(made.lower.row_columns(i).size());
      inner.upper += static_cast<double>(made.upper.row_columns(i).size());
    }
  }
  double const scale = B.rows / rows;
  FillCount const& counted = inner_rows > 0 ? inner : all;  // parts may be all rim
  double const entry_scale = inner_rows > 0 ? B.rows / inner_rows : scale;
  return {.lower = entry_scale * counted.lower,
          .upper = entry_scale * counted.upper,
          .lower_places = scale * all.lower_places,
          .upper_places = scale * all.upper_places,
          .exact = false};
}

}  // namespace tcsolve
