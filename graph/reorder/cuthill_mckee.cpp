// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/graph/reorder/renumber.hpp>
#include <tcsolve/graph/search/pseudo_peripheral.hpp>

namespace tcsolve {
namespace {

struct ByDegree {
  Graph const& graph;
  bool operator()(Index p, Index q) const {
    return std::pair(graph.degree(p), p) < std::pair(graph.degree(q), q);
  }
};

/// Appends v's component, reversed.
void number_component(Graph const& graph, Index v, QueueSearch& search, std::vector<Index>& order,
                      CancelFlag cancel) {
  auto const start = static_cast<std::ptrdiff_t>(order.size());
  ByDegree const before{graph};
  Index const first = pseudo_peripheral(graph, v, search, cancel).vertex;
  search.begin();
  search.visit(first);
  order.push_back(first);
  for (auto i = static_cast<std::size_t>(start); i < order.size(); ++i) {
    if (i % 4096 == 0) cancel.check();
    auto const children = static_cast<std::ptrdiff_t>(order.size());
    for (Index const w : graph.of(order[i]))
      if (search.visit(w)) order.push_back(w);
    std::sort(order.begin() + children, order.end(), before);
  }
  std::reverse(order.begin() + start, order.end());
}

}  // namespace

Permutation reverse_cuthill_mckee(Graph const& graph, std::span<Index const> first,
                                  CancelFlag cancel) {
  if (first.size() != static_cast<std::size_t>(graph.vertices()))
    throw ShapeError(cat("reverse_cuthill_mckee: ", graph.vertices(), " vertices, ", first.size(),
                         " of them listed"));
  QueueSearch search(graph.vertices());
  std::vector<Index> order;
  order.reserve(first.size());
  for (Index const v : first)
    if (!search.ever_visited(v)) number_component(graph, v, search, order, cancel);
  return Permutation(std::move(order));
}

Permutation reverse_cuthill_mckee(Pattern const& a, CancelFlag cancel) {
  Graph const graph = adjacency(a);
  return reverse_cuthill_mckee(graph, Permutation::identity(a.rows).old_numbers(), cancel);
}

namespace {

/// One after another, vertices take 16 ns an entry. A device takes 2 of them, and
///
///   120 ns for an entry of the longest row, which one warp walks: as long as the host where that
///          row has an eighth of all entries;
///   5 us   for a level of the searches with its part of the numbering, whatever is in it: as long
///          as the host where there is a level to some 320 entries.
///
/// Rates of an H200 (docs/internals/reordering.md). What was measured lies on the safe side.
CuthillMckeeLimits limits(Offset entries) {
  return {.longest = std::max<Offset>(1024, entries / 16), .levels = 256 + entries / 500};
}

/// All memory that the symmetric case needs, in one piece that the Arena owns.
void reserve(Arena& arena, double entries, double rows) {
  arena.scope().take<std::byte>(static_cast<std::size_t>(8 * entries + 180 * rows) + (1 << 20));
}

}  // namespace

bool by_levels(Offset entries, Offset longest) {
  return entries >= 30000 && longest <= limits(entries).longest;
}

template <class S>
Permutation reverse_cuthill_mckee(Context& ctx, CsrView<S> const& a) {
  require_square(ctx, a);
  std::vector<Index> old_numbers(static_cast<std::size_t>(a.rows));
  bool const found = ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      if (!by_levels(a.entries, 0)) return false;
      Arena arena(ctx.space());
      reserve(arena, double(a.entries), double(a.rows));
      return cuthill_mckee(on, arena, a, limits(a.entries), old_numbers.data());
    }
    return false;
  });
  if (found) return Permutation(std::move(old_numbers));
  return with_pattern(
      ctx, a, [&](Pattern const& p) { return reverse_cuthill_mckee(p, ctx.cancel_flag()); });
}

template Permutation reverse_cuthill_mckee(Context&, CsrView<double> const&);

}  // namespace tcsolve
