// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/reordering.hpp>

#include <cstdio>
#include <utility>

#include <tcsolve/graph/reorder/affinity.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/reorder/partition_order.hpp>

namespace tcsolve {
namespace {

constexpr double enough = 0.8;

Permutation order_of(Graph const& graph, Reorder reorder, CancelFlag cancel) {
  if (reorder == Reorder::metis) return partition_order(graph, cached_rows, cancel);
  if (reorder == Reorder::affinity) return affinity_order(graph);
  return reverse_cuthill_mckee(graph, Permutation::identity(graph.vertices()).old_numbers());
}

}  // namespace

bool pays(Locality const& candidate, Locality const& present) {
  return candidate.cost() <= enough * present.cost();
}

bool could_pay(Locality const& present) { return Locality{}.cost() <= enough * present.cost(); }

Reordering reordering(Context& ctx, CsrView<double> const& a, Reorder reorder,
                      std::shared_ptr<CsrStorage<double>>& moved) {
  require_square(ctx, a);
  Reordering order;
  order.taken = reorder;
  order.P = reorder == Reorder::rcm ? reverse_cuthill_mckee(ctx, a)
                                    : with_pattern(ctx, a, [&](Pattern const& p) {
                                        return order_of(adjacency(p), reorder, ctx.cancel_flag());
                                      });
  moved = std::make_shared<CsrStorage<double>>(permuted(ctx, a, order.P));
  order.before = locality(ctx, a);
  order.after = locality(ctx, moved->view());
  return order;
}

Reordering reordering(Pattern const& a, Reorder reorder) {
  require_square(a);
  bool const searches = reorder == Reorder::automatic;
  Locality const before = locality(a);
  Reordering present{Reorder::none, Permutation::identity(a.rows), before, before};
  if (reorder == Reorder::none || (searches && !could_pay(before))) return present;
  Graph const graph = adjacency(a);
  auto const tried = [&](Reorder taken) {
    Permutation P = order_of(graph, taken, {});
    Locality const after = locality(a, P);
    return Reordering{taken, std::move(P), before, after};
  };
  if (!searches) return tried(reorder);
  for (Reorder const next : {Reorder::rcm, Reorder::metis}) {
    if (!could_pay(present.after) || (next == Reorder::metis && !metis_holds(graph))) continue;
    Reordering candidate = tried(next);
    if (pays(candidate.after, present.after)) present = std::move(candidate);
  }
  return present;
}

std::string text(Reordering const& order) {
  if (!order.measured) return name(order.taken);
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": %.3g -> %.3g bytes of x an entry, bandwidth %d -> %d",
                order.before.gather(), order.after.gather(), order.before.bandwidth,
                order.after.bandwidth);
  return name(order.taken) + std::string(numbers);
}

}  // namespace tcsolve
