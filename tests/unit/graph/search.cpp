// SPDX-License-Identifier: Apache-2.0
/// Breadth-first searches against a plain queue, components, pseudo-peripheral vertices, parts.
#include <tcsolve/graph/parts/parts.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/search/breadth_first.hpp>
#include <tcsolve/graph/search/pseudo_peripheral.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <queue>
#include <random>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Entries = std::set<std::pair<Index, Index>>;

/// Directed graphs: paths, a cycle, a star, a tree, a grid, random ones, hubs, isolated vertices.
std::vector<std::pair<std::string, Csr<double>>> graphs() {
  std::vector<std::pair<std::string, Csr<double>>> list;
  Entries path, cycle, star, tree, grid;
  for (Index i = 0; i < 40; ++i) {
    if (i < 39) path.insert({i, i + 1});
    cycle.insert({i, (i + 1) % 40});
    if (i > 0) star.insert({0, i}), tree.insert({(i - 1) / 2, i});
    if (i % 8 < 7) grid.insert({i, i + 1}), grid.insert({i + 1, i});
    if (i < 32) grid.insert({i, i + 8}), grid.insert({i + 8, i});
  }
  list.emplace_back("path", with_entries(40, path));
  list.emplace_back("cycle", with_entries(40, cycle));
  list.emplace_back("star", with_entries(40, star));
  list.emplace_back("tree", with_entries(40, tree));
  list.emplace_back("grid", with_entries(40, grid));
  list.emplace_back("no edges", with_entries(5, {}));
  list.emplace_back("loops", with_entries(3, {{0, 0}, {1, 1}, {2, 2}}));
  for (Index const edges : {30, 60, 200}) {
    std::mt19937 draw(static_cast<unsigned>(edges));
    Entries some;
    for (Index k = 0; k < edges; ++k)
      some.insert({static_cast<Index>(draw() % 50), static_cast<Index>(draw() % 50)});
    list.emplace_back(cat(edges, " random"), with_entries(50, some));
  }
  return list;
}

/// The definition, on a set of edges.
BreadthFirst by_queue(Csr<double> const& a, SearchRequest const& request) {
  std::vector<std::set<Index>> to(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i)) {
      if (request.along != Along::columns) to[i].insert(j);
      if (request.along != Along::rows) to[j].insert(i);
    }
  auto const open = [&](Index v) { return request.may_enter.empty() || request.may_enter[v]; };
  BreadthFirst found;
  found.level.assign(static_cast<std::size_t>(a.rows), -1);
  found.parent = found.level;
  std::set<Index> frontier(request.sources.begin(), request.sources.end());
  for (Index level = 0; !frontier.empty(); ++level) {
    for (Index const v : frontier) {
      found.level[v] = level;
      found.vertices.push_back(v);
      found.found |= std::ranges::find(request.until, v) != request.until.end();
    }
    found.starts.push_back(static_cast<Index>(found.vertices.size()));
    if (found.found || level == request.depth) break;
    std::set<Index> next;
    for (Index const v : frontier)
      if (open(v))
        for (Index const w : to[v])
          if (found.level[w] < 0 && open(w) && next.insert(w).second) found.parent[w] = v;
    frontier = std::move(next);
  }
  return found;
}

void expect_equal(BreadthFirst const& got, BreadthFirst const& wanted) {
  EXPECT_EQ(got.level, wanted.level);
  EXPECT_EQ(got.parent, wanted.parent);
  EXPECT_EQ(got.vertices, wanted.vertices);
  EXPECT_EQ(got.starts, wanted.starts);
  EXPECT_EQ(got.found, wanted.found);
}

TEST(BreadthFirst, TheDrawnExample) {
  Csr<double> const a = with_entries(4, {{0, 1}, {0, 3}, {1, 2}, {3, 2}});
  BreadthFirst const found = breadth_first(a, {.sources = {0}});
  EXPECT_EQ(found.level, (std::vector<Index>{0, 1, 2, 1}));
  EXPECT_EQ(found.parent, (std::vector<Index>{-1, 0, 1, 0}));
  EXPECT_EQ(found.vertices, (std::vector<Index>{0, 1, 3, 2}));
  EXPECT_EQ(found.starts, (std::vector<Index>{0, 1, 3, 4}));
  EXPECT_EQ(breadth_first(a, {.sources = {2}}).vertices, (std::vector<Index>{2}));
  EXPECT_EQ(breadth_first(a, {.sources = {2}, .along = Along::columns}).level,
            (std::vector<Index>{2, 1, 0, 1}));
}

TEST(BreadthFirst, IsThatOfAPlainQueue) {
  for (auto const& [name, a] : graphs()) {
    SCOPED_TRACE(name);
    std::mt19937 draw(7);
    auto const any = [&, &a = a] {
      return static_cast<Index>(draw() % static_cast<unsigned>(a.rows));
    };
    for (Along const along : {Along::rows, Along::columns, Along::both})
      for (Index const depth : {-1, 0, 1, 3})
        for (int const variant : {0, 1, 2, 3}) {
          SearchRequest request{.sources = {any()}, .along = along, .depth = depth};
          if (variant > 0) request.sources.insert(request.sources.end(), {any(), any(), any()});
          if (variant == 2) {
            request.may_enter.resize(static_cast<std::size_t>(a.rows));
            for (auto& enter : request.may_enter) enter = draw() % 4 != 0;
          }
          if (variant == 3) request.until = {any()};
          expect_equal(breadth_first(a, request), by_queue(a, request));
        }
  }
  Csr<double> const real = generate(Poisson27Params{.n = 9});
  expect_equal(breadth_first(real, {.sources = {5, 700, 5}}),
               by_queue(real, {.sources = {5, 700}}));
}

TEST(BreadthFirst, ALongPathEnds) {
  Csr<double> a;
  a.rows = a.cols = 1'000'000;
  for (Index i = 0; i < a.rows; ++i) {
    if (i + 1 < a.rows) a.columns.push_back(i + 1), a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  BreadthFirst const found = breadth_first(a, {.sources = {0}});
  EXPECT_EQ(found.levels(), a.rows);
  EXPECT_EQ(found.level.back(), a.rows - 1);
}

TEST(BreadthFirst, RefusesByName) {
  Csr<double> const a = with_entries(4, {{0, 1}});
  auto const refused = [&](SearchRequest const& request, std::string const& says) {
    std::string const text = message_of<ShapeError>([&] { breadth_first(a, request); });
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  refused({}, "no source");
  refused({.sources = {0, 4}}, "source 4 is outside [0, 4)");
  refused({.sources = {-1}}, "source -1 is outside [0, 4)");
  refused({.sources = {0}, .until = {9}}, "vertex of 'until' 9");
  refused({.sources = {0}, .depth = -2}, "depth -2");
  refused({.sources = {0}, .may_enter = {1}}, "may_enter has 1 elements, the matrix 4 rows");
  Csr<double> wide = a;
  wide.cols = 5;
  EXPECT_NE(message_of<ShapeError>([&] { breadth_first(wide, {.sources = {0}}); }).find("4 x 5"),
            std::string::npos);
  std::atomic<bool> const raised = true;
  EXPECT_THROW(breadth_first(a, {.sources = {0}}, CancelFlag(raised)), Cancelled);
}

TEST(ConnectedComponents, AreWhatAUnionSays) {
  for (auto const& [name, a] : graphs()) {
    SCOPED_TRACE(name);
    Components const components = connected_components(adjacency(a));
    std::vector<Index> least(static_cast<std::size_t>(a.rows));
    std::iota(least.begin(), least.end(), Index{0});
    for (Index pass = 0; pass < a.rows; ++pass)
      for (Index i = 0; i < a.rows; ++i)
        for (Index const j : a.row_columns(i)) least[i] = least[j] = std::min(least[i], least[j]);
    std::set<Index> const roots(least.begin(), least.end());
    ASSERT_EQ(components.count(), static_cast<Index>(roots.size()));
    std::vector<Index> sizes(roots.size(), 0);
    for (Index i = 0; i < a.rows; ++i) {
      auto const number = static_cast<Index>(std::distance(roots.begin(), roots.find(least[i])));
      EXPECT_EQ(components.of[i], number) << i;
      ++sizes[number];
    }
    EXPECT_EQ(components.sizes, sizes);
  }
}

TEST(PseudoPeripheral, EndsWhereNoSearchIsLonger) {
  for (auto const& [name, a] : graphs()) {
    SCOPED_TRACE(name);
    Graph const graph = adjacency(a);
    QueueSearch search(graph.vertices());
    PseudoPeripheral const end = pseudo_peripheral(graph, a.rows / 2, search);
    BreadthFirst const from = by_queue(a, {.sources = {end.vertex}, .along = Along::both});
    EXPECT_EQ(end.levels.count(), from.levels());
    EXPECT_GE(from.levels(), by_queue(a, {.sources = {a.rows / 2}, .along = Along::both}).levels());
  }
  Csr<double> const path = with_entries(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  Graph const graph = adjacency(path);
  QueueSearch search(5);
  EXPECT_EQ(pseudo_peripheral(graph, 2, search).levels.count(), 5);
}

/// Whether the vertices of each part are joined by edges within it.
bool connected(Graph const& graph, Parts const& parts) {
  QueueSearch search(graph.vertices());
  std::vector<Index> first(static_cast<std::size_t>(parts.count), -1),
      size(static_cast<std::size_t>(parts.count), 0);
  for (Index v = 0; v < graph.vertices(); ++v) {
    if (first[parts.of[v]] < 0) first[parts.of[v]] = v;
    ++size[parts.of[v]];
  }
  for (Index p = 0; p < parts.count; ++p) {
    SearchLevels const reached = search.levels(
        std::array{first[p]}, [&](Index v) { return graph.of(v); },
        [&](Index v) { return parts.of[v] == p; });
    if (reached.vertices.size() != static_cast<std::size_t>(size[p])) return false;
  }
  return true;
}

TEST(GrownParts, AreConnectedCompleteAndOfTheirSize) {
  auto list = graphs();
  list.emplace_back("27-point", generate(Poisson27Params{.n = 11}));
  list.emplace_back("7-point", generate(Poisson7Params{.n = 13}));
  list.emplace_back("elasticity", generate(ElasticityParams{.n = 5}));
  list.emplace_back("nothing", Csr<double>{});
  for (auto const& [name, a] : list)
    for (Index const size : {1, 2, 7, 64, 100000}) {
      SCOPED_TRACE(cat(name, ", ", size));
      Graph const graph = adjacency(a);
      Parts const parts = grown_parts(graph, size);
      ASSERT_EQ(parts.of.size(), static_cast<std::size_t>(a.rows));
      std::vector<Index> rows(static_cast<std::size_t>(parts.count), 0);
      for (Index const p : parts.of) {
        ASSERT_GE(p, 0);
        ASSERT_LT(p, parts.count);
        ++rows[p];
      }
      for (Index const r : rows) {
        EXPECT_GE(r, 1);
        EXPECT_LE(r, size);
      }
      EXPECT_TRUE(connected(graph, parts));
      EXPECT_EQ(grown_parts(graph, size).of, parts.of);
      if (size == 100000) EXPECT_EQ(parts.count, connected_components(graph).count());
    }
}

TEST(GrownParts, AreCompactAndFew) {
  // Parts of a grid that METIS cuts well: at most a third more edges between parts than it cuts.
  Csr<double> const a = generate(Poisson7Params{.n = 20});
  Graph const graph = adjacency(a);
  auto const cut = [&](Parts const& parts) {
    double edges = 0;
    for (Index v = 0; v < graph.vertices(); ++v)
      for (Index const w : graph.of(v)) edges += parts.of[v] != parts.of[w];
    return edges;
  };
  Parts const grown = parts_of(graph, 64, PartsBy::automatic),
              rows = parts_of(graph, 64, PartsBy::rows);
  EXPECT_EQ(grown.of, grown_parts(graph, 64).of);
  EXPECT_EQ(rows.count, 125);
  EXPECT_LT(cut(grown), 0.7 * cut(rows));
  EXPECT_LE(grown.count, 160);  // 125 without crumbs
  if (metis_built()) {
    Parts const metis = parts_of(graph, 64, PartsBy::metis);
    EXPECT_NEAR(metis.count, 125, 2);
    EXPECT_LT(cut(grown), 4.0 / 3 * cut(metis));
  } else {
    EXPECT_THROW(parts_of(graph, 64, PartsBy::metis), NotBuilt);
  }
  EXPECT_THROW(parts_of(graph, 0, PartsBy::rows), ShapeError);
  EXPECT_THROW(grown_parts(graph, 0), ShapeError);
  std::atomic<bool> const raised = true;
  EXPECT_THROW(grown_parts(graph, 8, CancelFlag(raised)), Cancelled);
}

}  // namespace
}  // namespace tcsolve::test
