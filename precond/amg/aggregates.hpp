// SPDX-License-Identifier: Apache-2.0
/// Aggregates of the nodes of a strength graph, in the Context's space. Each becomes a node of the
/// next coarser level.
///
///     o o a A a b B b      A, B, C   roots: a maximal independent set at distance 2, with their
///     o o c a . b . o      a, b, c   neighbours: the first phase
///     o c C c . . d o      D, d      roots of the second: such a set among what is left, of those
///     o o c o . D d o                with two neighbours left
///     o o o o . d o o      .         the rest joins the neighbouring aggregate that most of its
///                                    neighbours are in, of several the first
///
/// Bell, Dalton and Olson 2012, Exposing fine-grained parallelism in algebraic multigrid methods,
/// section 4; the second phase makes what lies between the first ones' aggregates into some of
/// about their size. A node without a strong neighbour is in none: it needs no coarse grid. The
/// same aggregates on every run and backend.
///
/// Cost: two independent sets (sparse/independent_set.hpp), the second of what the first phase has
/// left, and passes over the nodes; one word to the host.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

struct Aggregates {
  Array<Index> of;  ///< (nodes) the aggregate of a node, -1 for none
  Index count = 0;
};

/// Of a graph that strength_graph() has made. A node of the rest looks at its first 64 neighbours
/// that are in an aggregate, whatever it has more.
Aggregates aggregates(Context&, sparse::OwnedPattern const& strong);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
Aggregates aggregates(Host&, Arena&, CancelFlag const&, PatternView const& strong);
}  // namespace host
namespace cuda {
Aggregates aggregates(Device&, Arena&, CancelFlag const&, PatternView const& strong);
}  // namespace cuda
}  // namespace tcsolve
