// SPDX-License-Identifier: Apache-2.0
/// A breadth-first search of a graph where it lies (Ji et al. 2022, TileSpMSpV, section 3.4), as
/// data for the steps of level_search_steps.hpp. A level d + 1 is found from level d, the frontier,
/// in one of four ways:
///
///     queue     the frontier is a list; a warp reads the row of each of its vertices     CSR
///     push_csc  the frontier are bits; of a tile row with a frontier vertex, the words
///               of these vertices are joined                            (Algorithm 5)    tiles, out
///     push_csr  every tile of the edges back: which of its vertices have one to the
///               frontier; slices of 32 tiles, so that long tile rows are shared (Alg. 6) tiles, in
///     pull_csc  each vertex that is not reached looks for one neighbour in the
///               frontier and leaves at the first                        (Algorithm 7)    tiles, in
///
/// Edges that lie in no tile are walked as lists beside them, where the authors call another
/// library. The names are those of the paper, which goes by columns of A in y = A x: "out" here are
/// the edges that leave a vertex, "in" those that come to it.
///
/// The level of a vertex does not depend on which thread finds it, its parent is the least of those
/// that find it, and the ways are chosen by counts: results are the same on every run.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <tcsolve/graph/search/bit_tiles.hpp>

namespace tcsolve {

enum class SearchStep { automatic, queue, push_csc, push_csr, pull_csc };
constexpr auto names(SearchStep) {
  return std::array{std::pair{SearchStep::automatic, std::string_view("auto")},
                    std::pair{SearchStep::queue, std::string_view("queue")},
                    std::pair{SearchStep::push_csc, std::string_view("push_csc")},
                    std::pair{SearchStep::push_csr, std::string_view("push_csr")},
                    std::pair{SearchStep::pull_csc, std::string_view("pull_csc")}};
}

/// Counts of a graph and its tiles of bits.
struct SearchCounts {
  Offset vertices = 1, out_edges = 0, out_tiles = 0, out_rest = 0, in_tiles = 0, in_rest = 0;
  int side = 64;  ///< of a tile; a word has side / 8 bytes
};

/// What a way costs in bytes moved, a barrier among them: 1 us at 3 TB/s. Counts alone go in, as
/// whole numbers, so that every thread decides the same; quotients that do not depend on the
/// frontier are made once, since each thread of a grid would divide at every level.
class SearchRule {
 public:
  static constexpr Offset barrier = 3'000'000;
  SearchStep forced = SearchStep::automatic;
  bool bits = false;  ///< there are edges back: the ways other than the queue are open

  SearchRule() = default;
  explicit SearchRule(SearchCounts const& of)
      : n_(of.vertices),
        words_(n_ / of.side + 1),
        turn_(4 * n_ + barrier),
        sweep_(n_ / 2 + 2 * barrier),
        of_vertex_(8 + 36 * (of.out_edges / n_ + 1)),
        in_degree_((of.side * of.in_tiles + of.in_rest) / n_ + 1),
        rest_of_vertex_(20 * (of.out_rest / n_) + 8),
        tiles_of_column_((of.out_tiles / words_ + 1) * 40),
        all_tiles_(of.in_tiles * 12 + of.in_rest / words_),
        words_of_row_(of.in_tiles / words_ * of.side * (of.side / 8)) {}

  /// For a frontier of f > 0 vertices, `seen` of all that are reached; in_bits: it lies as bits.
  TCSOLVE_HD SearchStep choose(Offset f, Offset seen, bool in_bits) const {
    if (!bits) return SearchStep::queue;
    if (forced != SearchStep::automatic) return forced;
    Offset const unseen = n_ > seen ? n_ - seen : 0;
    Offset const sweep = sweep_ + (in_bits ? 0 : turn_);
    Offset const queue = f * of_vertex_ + barrier + (in_bits ? n_ / 8 + barrier : 0);
    // Of the neighbours of a vertex one in n / f is in the frontier.
    Offset const apart = static_cast<std::uint32_t>(n_) / static_cast<std::uint32_t>(f) + 1;
    Offset const pull = sweep + unseen * (8 + 12 * (in_degree_ < apart ? in_degree_ : apart));
    Offset const rest = f * rest_of_vertex_;
    Offset const met = words_ < f ? words_ : f;  // tile rows, or columns, with a frontier vertex
    Offset const push_csc = sweep + n_ / 8 + met * tiles_of_column_ + rest;
    Offset const push_csr = sweep + all_tiles_ + met * words_of_row_ + rest;
    SearchStep best = SearchStep::queue;
    Offset least = queue;
    if (push_csc < least) best = SearchStep::push_csc, least = push_csc;
    if (push_csr < least) best = SearchStep::push_csr, least = push_csr;
    if (pull < least) best = SearchStep::pull_csc;
    return best;
  }

 private:
  Offset n_ = 1, words_ = 1, turn_ = 0, sweep_ = 0;
  Offset of_vertex_ = 0;        ///< a vertex of the queue
  Offset in_degree_ = 1;        ///< places where pull looks
  Offset rest_of_vertex_ = 0;   ///< a frontier vertex's edges in no tile
  Offset tiles_of_column_ = 0;  ///< push_csc: a tile column
  Offset all_tiles_ = 0;        ///< push_csr: the look at every tile
  Offset words_of_row_ = 0;     ///< push_csr: words of the tiles that are met
};

/// What is counted of a level, or, in the first of the records, where the search stands.
struct LevelRecord {
  Index found;      ///< vertices of the level
  Index long_rows;  ///< of the frontier, which all warps share
  Index wanted;     ///< not 0: a vertex of `until` is among them
  Index collected;  ///< from bits into a queue
  Index level;      ///< of the frontier
  Index seen;       ///< vertices reached
  Index in_bits;    ///< the frontier lies as bits
  Index unused;
};

/// All that a search reads and writes, in the space where it runs.
template <class W>
struct LevelSearch {
  static constexpr Index not_met = -1, closed = -2;  ///< levels of a search under way
  static constexpr Index long_row = 1024;            ///< entries; longer ones are cut so
  PatternView out;                                   ///< a row: where the edges of a vertex lead to
  BitTiles<W> out_tiles, in_tiles;
  SearchRule rule;

  Index const* sources = nullptr;  ///< distinct
  Index source_count = 0;
  std::uint8_t const* may_enter = nullptr;  ///< (vertices), or null
  std::uint8_t const* wanted = nullptr;     ///< (vertices), or null
  Index depth = -1;

  Index* level = nullptr;          ///< (vertices)
  Index* parent = nullptr;         ///< (vertices), or null: not asked for
  Index* queue[2] = {};            ///< (vertices): frontiers of even and odd levels
  Index* long_rows = nullptr;      ///< (vertices)
  W* visited = nullptr;            ///< (tile rows)
  W* frontier[2] = {};             ///< (tile rows): of even and odd levels
  W* next = nullptr;               ///< (tile rows): zero between steps
  LevelRecord* records = nullptr;  ///< (most + 1): the state, then a record a level
  Index most = 0;                  ///< levels of one run
  Index wide = 4096;               ///< vertices of a frontier of which warps take several each
  Offset longest = 0;              ///< row of `out`
  bool begin = true;               ///< false: goes on where the last run ended

  TCSOLVE_HD std::int64_t words() const { return (std::int64_t{out.rows} + side() - 1) / side(); }
  TCSOLVE_HD static constexpr int side() { return BitTiles<W>::side; }
  // Choices, not subscripts: those would make every thread of a grid keep a copy of it all.
  TCSOLVE_HD Index* queue_at(Index level) const { return level % 2 == 0 ? queue[0] : queue[1]; }
  TCSOLVE_HD W* frontier_at(Index level) const {
    return level % 2 == 0 ? frontier[0] : frontier[1];
  }
};

namespace host {
template <class W>
void run_levels(Host&, Arena&, LevelSearch<W> const&);
/// Vertices (rows) sorted by (level, number), those not reached last; starts (levels + 1).
void order_by_levels(Host&, Arena&, Index const* level, Index rows, Index levels, Index* vertices,
                     Index* starts);
}  // namespace host
namespace cuda {
template <class W>
void run_levels(Device&, Arena&, LevelSearch<W> const&);
void order_by_levels(Device&, Arena&, Index const* level, Index rows, Index levels, Index* vertices,
                     Index* starts);
}  // namespace cuda

}  // namespace tcsolve
