// SPDX-License-Identifier: Apache-2.0
/// Breadth-first searches of a graph where its matrix lies: TileBFS (Ji et al. 2022, TileSpMSpV,
/// section 3.4). The whole search is one cooperative kernel that decides level by level how to go
/// on (graph/search/level_search.hpp); the results are those of breadth_first() to the bit.
///
///     GraphSearch search(ctx, A.view());                 // tiles of bits, where they pay
///     SearchSummary found = search.run(ctx, {.sources = {0}});
///     search.levels()                                    // (rows), where A lies
///     BreadthFirst all = search.on_host(ctx);            // levels, parents, order, counts
///
/// Edges lead from i to j where a_ij is stored, whatever its value.
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/graph/search/breadth_first.hpp>
#include <tcsolve/graph/search/level_search.hpp>

namespace tcsolve {

struct GraphSearchOptions {
  Along along = Along::rows;
  int tile = 0;           ///< 32 or 64; 0: 32 below 10,000 rows (section 3.4)
  Index tile_edges = -1;  ///< a tile of fewer edges is not stored as bits; -1: of fewer than a row
                          ///< of it has bits, where a list takes about what its words take
  bool bits = true;       ///< false: the frontier is always a queue; no tiles, no edges back
};

/// What a search is asked beside SearchRequest.
struct SearchTuning {
  SearchStep step = SearchStep::automatic;  ///< every level is found so; for tests and studies.
                                            ///< automatic: by the queue, or, where some vertex has
                                            ///< over 16 times the mean of edges, as prices tell
  bool parents = true;                      ///< false: levels alone
  Index wide = 4096;  ///< by the queue, a warp takes several vertices of a frontier of so many
};

struct SearchSummary {
  std::vector<Index> sizes;       ///< (levels) vertices reached; a level has at least one
  std::vector<SearchStep> steps;  ///< (levels - 1) how the next one was found
  bool found = false;             ///< one of `until` was reached
};

class GraphSearch {
 public:
  /// Borrows the pattern of a square matrix in the Context's space, for as long as it is searched.
  ///
  ///   throws ShapeError unless A is square and there; MemoryError where memory will not do for
  ///          what it holds, or for the most that its tiles may take, before these are taken
  ///   cost   a look at every entry, or two where tiles are made; along columns a transpose, along
  ///          both A + A^T
  ///   bytes  24 a vertex; a tile of bits 260 or 516; with edges back or both, 4 an entry
  template <class S>
  GraphSearch(Context& ctx, CsrView<S> const& a, GraphSearchOptions const& options = {})
      : GraphSearch(ctx, PatternView(a), a.space, options) {}
  ~GraphSearch();
  GraphSearch(GraphSearch&&) noexcept;
  GraphSearch& operator=(GraphSearch&&) noexcept;

  /// Searches; `request.along` is that of the options and not looked at here.
  ///
  ///   throws ShapeError for what breadth_first() refuses, Cancelled and OutOfTime within 1024
  ///          levels
  ///   cost   a barrier a level by the queue, two by bits; the entries of the rows it visits
  SearchSummary run(Context&, SearchRequest const& request, SearchTuning const& tuning = {});

  /// Of the last search, in the Context's space: (rows) as BreadthFirst's.
  In<Index> levels() const;
  In<Index> parents() const;
  /// The last search with its vertices in order; cost: a sort of the vertices, and copies.
  BreadthFirst on_host(Context&) const;

  Index vertices() const;
  Offset edges() const;   ///< as they are searched, from row to column
  int tile_side() const;  ///< 32 or 64; 0: there are no bits
  Index tiles() const;    ///< of edges out
  Offset edges_in_tiles() const;
  std::size_t bytes() const;  ///< that it holds

 private:
  GraphSearch(Context&, PatternView const&, Space, GraphSearchOptions const&);
  struct State;
  std::unique_ptr<State> state_;
};

/// Connected components of the graph of A + A^T, found where A lies by union-find (Jaiganesh and
/// Burtscher 2018), as connected_components() of the graph numbers them. Throws ShapeError unless A
/// is square and in the Context's space. Cost: a look at every entry, and the numbers to the host.
template <class S>
Components connected_components(Context& ctx, CsrView<S> const& a);

}  // namespace tcsolve
