// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/reordering.hpp>

#include <cstdio>
#include <utility>

#include <tcsolve/formats/cuthill_mckee.hpp>
#include <tcsolve/formats/graph_partition.hpp>
#include <tcsolve/formats/partition_order.hpp>

namespace tcsolve {
namespace {

constexpr double enough = 0.8;

Permutation natural_order(Graph const& graph) { return Permutation::identity(graph.vertices()); }

Permutation order_of(Graph const& graph, Reorder reorder) {
  if (reorder == Reorder::none) return natural_order(graph);
  if (reorder == Reorder::metis) return partition_order(graph);
  return reverse_cuthill_mckee(graph, natural_order(graph).old_numbers());
}

}  // namespace

bool pays(Locality const& candidate, Locality const& present) {
  return candidate.cost() <= enough * present.cost();
}

bool could_pay(Locality const& present) { return Locality{}.cost() <= enough * present.cost(); }

Reordering reordering(Pattern const& a, Reorder reorder) {
  Graph const graph = adjacency(a);
  auto const tried = [&](Reorder taken) {
    Permutation P = order_of(graph, taken);
    Locality const after = locality(a, P);
    return Reordering{taken, std::move(P), {}, after};
  };
  bool const searches = reorder == Reorder::automatic;
  Reordering present = tried(searches ? Reorder::none : reorder);
  Locality const before = searches ? present.after : locality(a);
  if (searches) {
    for (Reorder const next : {Reorder::rcm, Reorder::metis}) {
      if (!could_pay(present.after) || (next == Reorder::metis && !metis_holds(graph))) continue;
      Reordering candidate = tried(next);
      if (pays(candidate.after, present.after)) present = std::move(candidate);
    }
  }
  present.before = before;
  return present;
}

std::string text(Reordering const& order) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": %.3g -> %.3g bytes of x an entry, bandwidth %d -> %d",
                order.before.gather(), order.after.gather(), order.before.bandwidth,
                order.after.bandwidth);
  return name(order.taken) + std::string(numbers);
}

}  // namespace tcsolve
