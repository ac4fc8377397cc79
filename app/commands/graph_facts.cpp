// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/graph_facts.hpp>

#include <algorithm>
#include <cstdio>

#include <tcsolve/graph/search/breadth_first.hpp>
#include <tcsolve/graph/search/pseudo_peripheral.hpp>

namespace tcsolve {

GraphFacts graph_facts(Csr<double> const& a) {
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
  return facts;
}

std::string text(GraphFacts const& facts) {
  std::string text =
      cat("graph           ", facts.vertices, " vertices, ", facts.edges, " edges of A + A^T\n");
  if (facts.vertices == 0) return text;
  char mean[32];
  std::snprintf(mean, sizeof mean, "%.4g", 2.0 * static_cast<double>(facts.edges) / facts.vertices);
  Index const widest = *std::ranges::max_element(facts.levels);
  return text + cat("components      ", facts.components, ", the largest of ", facts.largest,
                    " vertices; ", facts.isolated, " of one vertex\n",  //
                    "degrees         least ", facts.least_degree, ", mean ", mean, ", most ",
                    facts.most_degree, "\n",  //
                    "levels          ", facts.levels.size(), " from vertex ", facts.from,
                    ", the widest of ", widest, " vertices\n");
}

}  // namespace tcsolve
