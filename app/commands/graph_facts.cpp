// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/graph_facts.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/graph/search/graph_search.hpp>
#include <tcsolve/graph/search/pseudo_peripheral.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {
namespace {

/// How the edges fill the tiles of a search from the pseudo-peripheral vertex, and how long a level
/// of it takes.
void add_search(GraphFacts& facts, Csr<double> const& a, Backend backend) {
  Context ctx(backend);
  CsrStorage<double> const there(ctx, a.view());
  GraphSearch search(ctx, there.view(), {.along = Along::both});
  facts.tile_side = search.tile_side(), facts.tiles = search.tiles();
  facts.in_tiles = search.edges_in_tiles(), facts.in_rest = search.edges() - facts.in_tiles;
  SearchRequest const from_the_rim{.sources = {facts.from - 1}};
  search.run(ctx, from_the_rim);  // arrays are touched for the first time
  std::array<double, 5> seconds{};
  for (double& s : seconds) timed(s, [&] { search.run(ctx, from_the_rim); });
  std::ranges::sort(seconds);
  facts.searched_on = ctx.space();
  facts.level_us = 1e6 * seconds[2] / static_cast<double>(facts.levels.size());
}
/// Where a Context computes; on the host where the device's memory does not suffice.
void add_search(GraphFacts& facts, Csr<double> const& a) {
  try {
    add_search(facts, a, Backend::automatic);
  } catch (MemoryError const&) { add_search(facts, a, Backend::host); }
}

}  // namespace

GraphFacts graph_facts(Csr<double> const& a) {
  if (a.rows != a.cols)
    throw ShapeError(
        cat("--graph: the graph of a matrix has its rows as vertices and needs as many "
            "columns; this one is ",
            a.rows, " x ", a.cols, "; leave '--graph' out"));
  Graph const graph = adjacency(a);
  GraphFacts facts;
  facts.vertices = graph.vertices();
  facts.edges = static_cast<Offset>(graph.neighbours.size()) / 2;
  if (facts.vertices == 0) return facts;
  Components const components = connected_components(graph);
  facts.components = components.count();
  facts.isolated = static_cast<Index>(std::ranges::count(components.sizes, 1));
  auto const largest = std::ranges::max_element(components.sizes);
  facts.largest = *largest;
  facts.least_degree = facts.most_degree = graph.degree(0);
  for (Index v = 0; v < facts.vertices; ++v) {
    facts.least_degree = std::min(facts.least_degree, graph.degree(v));
    facts.most_degree = std::max(facts.most_degree, graph.degree(v));
  }
  auto const number = static_cast<Index>(largest - components.sizes.begin());
  auto const first = std::ranges::find(components.of, number) - components.of.begin();
  QueueSearch search(facts.vertices);
  PseudoPeripheral const end = pseudo_peripheral(graph, static_cast<Index>(first), search);
  facts.from = end.vertex + 1;
  for (Index l = 0; l < end.levels.count(); ++l)
    facts.levels.push_back(static_cast<Index>(end.levels.level(l).size()));
  add_search(facts, a);
  return facts;
}

std::string text(GraphFacts const& facts) {
  std::string text =
      cat("graph           ", facts.vertices, " vertices, ", facts.edges, " edges of A + A^T\n");
  if (facts.vertices == 0) return text;
  char mean[32], share[32], each[32], level[32];
  std::snprintf(mean, sizeof mean, "%.4g", 2.0 * static_cast<double>(facts.edges) / facts.vertices);
  double const edges = static_cast<double>(facts.in_tiles + facts.in_rest);
  std::snprintf(share, sizeof share, "%.3g",
                edges > 0 ? 100 * static_cast<double>(facts.in_tiles) / edges : 0);
  std::snprintf(each, sizeof each, "%.3g",
                facts.tiles > 0 ? static_cast<double>(facts.in_tiles) / facts.tiles : 0);
  std::snprintf(level, sizeof level, "%.3g", facts.level_us);
  Index const widest = *std::ranges::max_element(facts.levels);
  return text + cat("components      ", facts.components, ", the largest of ", facts.largest,
                    " vertices; ", facts.isolated, " of one vertex\n",  //
                    "degrees         least ", facts.least_degree, ", mean ", mean, ", most ",
                    facts.most_degree, "\n",  //
                    "tiles           ", facts.tiles, " of ", facts.tile_side, " x ",
                    facts.tile_side, " with ", share, " % of the edges, ", each, " a tile\n",  //
                    "levels          ", facts.levels.size(), " from vertex ", facts.from,
                    ", the widest of ", widest, " vertices; ", level, " us a level on the ",
                    name(facts.searched_on), "\n");
}

}  // namespace tcsolve
