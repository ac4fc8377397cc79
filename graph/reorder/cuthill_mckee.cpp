// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/graph/reorder/renumber.hpp>

namespace tcsolve {
namespace {

/// The vertices of a component by their distance from one of them.
struct Levels {
  std::vector<Index> vertices;  // level by level
  std::size_t last = 0;         // where the last level begins
  Index height = 0;             // levels
};

struct ByDegree {
  Graph const& graph;
  bool operator()(Index p, Index q) const {
    return std::pair(graph.degree(p), p) < std::pair(graph.degree(q), q);
  }
};

class CuthillMckee {
 public:
  CuthillMckee(Graph const& graph, CancelFlag cancel)
      : graph_(graph), cancel_(cancel), visit_(static_cast<std::size_t>(graph.vertices()), 0) {}

  bool visited(Index v) const { return visit_[v] != 0; }

  /// Appends v's component, reversed.
  void number_component(Index v, std::vector<Index>& order) {
    auto const start = static_cast<std::ptrdiff_t>(order.size());
    ByDegree const before{graph_};
    Index const first = pseudo_peripheral(v);
    begin_visit();
    visit(first, order);
    for (auto i = static_cast<std::size_t>(start); i < order.size(); ++i) {
      if (i % 4096 == 0) cancel_.check();
      auto const children = static_cast<std::ptrdiff_t>(order.size());
      visit_neighbours(order[i], order);
      std::sort(order.begin() + children, order.end(), before);
    }
    std::reverse(order.begin() + start, order.end());
  }

 private:
  Index pseudo_peripheral(Index v) {
    Levels levels = levels_from(v);
    ByDegree const before{graph_};
    for (;;) {
      Index const far =
          *std::min_element(levels.vertices.begin() + static_cast<std::ptrdiff_t>(levels.last),
                            levels.vertices.end(), before);
      Levels further = levels_from(far);
      if (further.height <= levels.height) return far;
      levels = std::move(further);
    }
  }

  Levels levels_from(Index v) {
    begin_visit();
    Levels levels;
    std::vector<Index>& queue = levels.vertices;
    visit(v, queue);
    for (std::size_t begin = 0; begin < queue.size(); ++levels.height) {
      cancel_.check();
      std::size_t const end = queue.size();
      for (std::size_t i = begin; i < end; ++i) visit_neighbours(queue[i], queue);
      levels.last = std::exchange(begin, end);
    }
    return levels;
  }

  void begin_visit() { ++stamp_; }
  void visit(Index v, std::vector<Index>& list) {
    visit_[v] = stamp_;
    list.push_back(v);
  }
  void visit_neighbours(Index v, std::vector<Index>& list) {
    for (Index const w : graph_.of(v))
      if (visit_[w] != stamp_) visit(w, list);
  }

  Graph const& graph_;
  CancelFlag cancel_;
  std::vector<std::int64_t> visit_;  // the last visit that met the vertex; 0: none
  std::int64_t stamp_ = 0;
};

}  // namespace

Permutation reverse_cuthill_mckee(Graph const& graph, std::span<Index const> first,
                                  CancelFlag cancel) {
  if (first.size() != static_cast<std::size_t>(graph.vertices()))
    throw ShapeError(cat("reverse_cuthill_mckee: ", graph.vertices(), " vertices, ", first.size(),
                         " of them listed"));
  CuthillMckee numbering(graph, cancel);
  std::vector<Index> order;
  order.reserve(first.size());
  for (Index const v : first)
    if (!numbering.visited(v)) numbering.number_component(v, order);
  return Permutation(std::move(order));
}

Permutation reverse_cuthill_mckee(Pattern const& a, CancelFlag cancel) {
  Graph const graph = adjacency(a);
  return reverse_cuthill_mckee(graph, Permutation::identity(a.rows).old_numbers(), cancel);
}

namespace {

/// One after another, vertices take some 100 ns an entry; a level takes a device a few us whatever
/// is in it, and an entry of a long row as much as a hundred of short ones.
CuthillMckeeLimits limits(Offset entries) {
  return {.longest = 1024 + entries / 256, .levels = 256 + entries / 2000};
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
