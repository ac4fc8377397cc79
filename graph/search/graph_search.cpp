// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/search/graph_search.hpp>

#include <algorithm>
#include <variant>

#include <tcsolve/graph/search/search_patterns.hpp>
#include <tcsolve/matrix/pattern.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {
namespace {

constexpr Index levels_a_run = 1024;

template <class W>
struct Tiles {
  BitTileArrays<W> out, in;  // `in` is empty where the pattern is symmetric
  Array<W> visited, frontier[2], next;
};

}  // namespace

struct GraphSearch::State {
  PatternView a;  // borrowed
  Space space;
  GraphSearchOptions options;
  SearchPatterns patterns;
  sparse::OwnedPattern back;  // A^T, where it is needed
  std::variant<Tiles<std::uint32_t>, Tiles<std::uint64_t>> tiles;
  Array<Index> level, parent, queue[2], long_rows, sources;
  Array<std::uint8_t> may_enter, wanted;
  Array<LevelRecord> records;
  PatternView out, in;
  SearchCounts counts;
  SearchRule rule;
  SearchSummary summary;
  bool has_hubs = false;
  bool with_parents = false;

  template <class W>
  void make_tiles(Context& ctx);
  template <class W>
  SearchSummary run(Context& ctx, LevelSearch<W> search, Tiles<W>& with, Index open_sources);
};

namespace {

/// The pattern of A^T.
sparse::OwnedPattern transposed_pattern(Context& ctx, PatternView const& a, Space space) {
  CsrView<double> const view{a.rows, a.cols, a.entries, a.offsets, a.columns, nullptr, space};
  return sparse::Transpose(ctx, view).release();
}

/// Bytes that a search holds beside its tiles, and in patterns of its own.
double predicted_bytes(PatternView const& a, Along along) {
  return 24.0 * a.rows + (along == Along::rows ? 4.0 : 8.0) * static_cast<double>(a.entries);
}

/// At most, of the tiles of bits of so many edges: each lies in a list, or in a tile with `least`
/// or more.
template <class W>
double bytes_of_tiles(Offset edges, Index least) {
  constexpr double tile = BitTiles<W>::side * sizeof(W) + 2 * sizeof(Index);
  return static_cast<double>(edges) * std::max<double>(sizeof(Index), tile / least);
}

void require_memory(Context const& ctx, double bytes) {
  if (bytes > static_cast<double>(ctx.available_memory()))
    throw MemoryError(cat("graph search: ", bytes, " bytes are needed, ", ctx.available_memory(),
                          " are available; search without bits, or a part of the graph"));
}

/// Whether some vertex has many times the edges of the others. The ways by bits gain where edges
/// meet few vertices, over and over, and half of the graph is in one level: that is what hubs make
/// of it (rmat 20, 16: 280 us by its own choice, 3275 by the queue). Levels of a mesh are thin, the
/// queue finds each of them soonest, and to ask which way is best takes 0.7 us of a level's 5.
bool some_are_hubs(Offset longest, Offset edges, Index vertices) {
  constexpr Offset times = 16;  // a mesh: 1 to 4
  return longest * vertices > times * edges;
}

Offset longest_row(Context& ctx, PatternView const& a, Space) {
  return ctx.visit([&](auto& on) { return search_patterns(on, ctx.arena(), a, false).longest; });
}

}  // namespace

template <class W>
void GraphSearch::State::make_tiles(Context& ctx) {
  Tiles<W>& made = tiles.emplace<Tiles<W>>();
  auto const n = static_cast<std::size_t>(out.rows);
  constexpr Index side = BitTiles<W>::side;
  Index const least = options.tile_edges < 0 ? side : std::max<Index>(options.tile_edges, 1);
  require_memory(ctx,
                 bytes_of_tiles<W>(out.entries + (patterns.symmetric ? 0 : in.entries), least));
  auto const build = [&](PatternView const& p) {
    return ctx.visit([&](auto& on) { return build_bit_tiles<W>(on, ctx.arena(), p, least); });
  };
  made.out = build(out);
  if (!patterns.symmetric) made.in = build(in);
  for (Array<W>* words : {&made.visited, &made.frontier[0], &made.frontier[1], &made.next})
    *words = Array<W>(space, (n + side - 1) / side);
  BitTiles<W> const &o = made.out.view, &i = patterns.symmetric ? made.out.view : made.in.view;
  counts.out_tiles = o.tiles, counts.in_tiles = i.tiles;
  counts.out_rest = o.rest.entries, counts.in_rest = i.rest.entries;
  counts.side = side;
}

GraphSearch::GraphSearch(Context& ctx, PatternView const& a, Space space,
                         GraphSearchOptions const& options)
    : state_(std::make_unique<State>()) {
  Context::Entry const entry(ctx);
  if (space != ctx.space())
    throw ShapeError(cat("graph search: a matrix lies on the ", name(space),
                         ", the Context computes on the ", name(ctx.space()),
                         "; bring it there with CsrStorage"));
  if (a.rows != a.cols)
    throw ShapeError(cat("graph search: the matrix is ", a.rows, " x ", a.cols,
                         "; a graph has as many rows as columns"));
  if (options.tile != 0 && options.tile != 32 && options.tile != 64)
    throw ShapeError(cat("graph search: tiles of ", options.tile, "; there are 32 and 64, or 0"));
  require_memory(ctx, predicted_bytes(a, options.along));
  State& s = *state_;
  s.a = a, s.space = space, s.options = options;
  bool const both = options.along == Along::both;
  s.patterns = ctx.visit([&](auto& on) { return search_patterns(on, ctx.arena(), a, both); });
  PatternView const forward = s.patterns.both.columns.size() > 0 ? s.patterns.both.view() : a;
  bool const turned = options.along == Along::columns && !s.patterns.symmetric;
  if (!s.patterns.symmetric && (turned || options.bits)) s.back = transposed_pattern(ctx, a, space);
  s.out = turned ? s.back.view() : forward;
  s.in = s.patterns.symmetric ? s.out : turned ? forward : s.back.view();
  if (turned) s.patterns.longest = longest_row(ctx, s.out, space);
  auto const n = static_cast<std::size_t>(a.rows);
  for (Array<Index>* array : {&s.level, &s.parent, &s.queue[0], &s.queue[1], &s.long_rows})
    *array = Array<Index>(space, n);
  s.records = Array<LevelRecord>(space, levels_a_run + 1);
  s.counts.vertices = std::max<Index>(a.rows, 1), s.counts.out_edges = s.out.entries;
  int const tile = options.tile != 0 ? options.tile : a.rows < 10000 ? 32 : 64;
  if (options.bits) {
    if (tile == 32)
      s.make_tiles<std::uint32_t>(ctx);
    else
      s.make_tiles<std::uint64_t>(ctx);
  }
  s.rule = SearchRule(s.counts);
  s.has_hubs = some_are_hubs(s.patterns.longest, s.out.entries, s.out.rows);
}

GraphSearch::~GraphSearch() = default;
GraphSearch::GraphSearch(GraphSearch&&) noexcept = default;
GraphSearch& GraphSearch::operator=(GraphSearch&&) noexcept = default;

template <class W>
SearchSummary GraphSearch::State::run(Context& ctx, LevelSearch<W> search, Tiles<W>& with,
                                      Index open_sources) {
  search.out_tiles = with.out.view;
  search.in_tiles = patterns.symmetric ? with.out.view : with.in.view;
  search.visited = with.visited.data(), search.next = with.next.data();
  for (int k : {0, 1}) search.frontier[k] = with.frontier[k].data();
  SearchSummary found;
  LevelRecord before{.found = open_sources, .seen = open_sources};
  std::vector<LevelRecord> record(levels_a_run + 1);
  for (search.begin = true;; search.begin = false) {
    ctx.visit([&](auto& on) { run_levels(on, ctx.arena(), search); });
    // Most searches have few levels: one copy then has their counts as well.
    constexpr std::size_t few = 129;
    auto const read = [&](std::size_t from, std::size_t to) {
      copy_bytes(ctx, record.data() + from, Space::host, records.data() + from, space,
                 (to - from) * sizeof(LevelRecord));
    };
    read(0, few);
    LevelRecord const now = record[0];
    auto const levels = static_cast<std::size_t>(now.level - before.level);
    if (levels + 1 > few) read(few, levels + 1);
    for (std::size_t k = 1; k <= levels; ++k) {
      LevelRecord const& of = record[k];
      SearchStep const step = search.rule.choose(before.found, before.seen, before.in_bits != 0);
      before.in_bits = step != SearchStep::queue;
      before.found = of.found, before.seen += of.found;
      if (of.found > 0) found.steps.push_back(step), found.sizes.push_back(of.found);
    }
    before = now;
    found.found = now.wanted != 0;
    if (now.found == 0 || now.wanted != 0 || now.level == search.depth) break;
    ctx.cancel_flag().check();
  }
  return found;
}

SearchSummary GraphSearch::run(Context& ctx, SearchRequest const& request,
                               SearchTuning const& tuning) {
  Context::Entry const entry(ctx);
  State& s = *state_;
  require_searchable(s.out.rows, s.out.rows, request);
  if (tuning.step != SearchStep::automatic && tuning.step != SearchStep::queue && !s.options.bits)
    throw Unsupported("graph search: it was made without bits; its frontier is a queue");
  std::vector<Index> sources = request.sources;
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  s.sources = to_space(ctx, sources.data(), sources.size());
  auto const flags = [&](std::vector<std::uint8_t> const& of) {
    return to_space(ctx, of.data(), of.size());
  };
  s.may_enter = flags(request.may_enter);
  std::vector<std::uint8_t> wanted(request.until.empty() ? 0 : s.level.size(), 0);
  for (Index const v : request.until) wanted[v] = 1;
  s.wanted = flags(wanted);
  auto const open = static_cast<Index>(std::ranges::count_if(
      sources, [&](Index v) { return request.may_enter.empty() || request.may_enter[v] != 0; }));
  // Without hubs a search by its own choice is the one that was made without bits, to the kernel.
  s.rule.bits = s.options.bits && (s.has_hubs || tuning.step != SearchStep::automatic);
  s.rule.forced = tuning.step;
  s.with_parents = tuning.parents;
  auto const fill = [&](auto& search) {
    search.out = s.out, search.rule = s.rule;
    search.sources = s.sources.data(), search.source_count = static_cast<Index>(sources.size());
    search.may_enter = s.may_enter.data(), search.wanted = s.wanted.data();
    search.depth = request.depth;
    search.level = s.level.data();
    search.parent = tuning.parents ? s.parent.data() : nullptr;
    search.wide = tuning.wide;
    for (int k : {0, 1}) search.queue[k] = s.queue[k].data();
    search.long_rows = s.long_rows.data();
    search.records = s.records.data(), search.most = levels_a_run;
    search.longest = s.patterns.longest;
  };
  auto const run_with = [&]<class W>(Tiles<W>& with) {
    LevelSearch<W> search;
    fill(search);
    return s.run(ctx, search, with, open);
  };
  Tiles<std::uint32_t> none;
  s.summary = s.rule.bits ? std::visit(run_with, s.tiles) : run_with(none);
  s.summary.sizes.insert(s.summary.sizes.begin(), static_cast<Index>(sources.size()));
  return s.summary;
}

In<Index> GraphSearch::levels() const { return std::as_const(state_->level).view(); }
In<Index> GraphSearch::parents() const { return std::as_const(state_->parent).view(); }
Index GraphSearch::vertices() const { return state_->out.rows; }
Offset GraphSearch::edges() const { return state_->out.entries; }
int GraphSearch::tile_side() const { return state_->options.bits ? state_->counts.side : 0; }
Index GraphSearch::tiles() const { return static_cast<Index>(state_->counts.out_tiles); }
Offset GraphSearch::edges_in_tiles() const {
  return tiles() == 0 ? 0 : state_->out.entries - state_->counts.out_rest;
}

std::size_t GraphSearch::bytes() const {
  State const& s = *state_;
  std::size_t sum = s.level.bytes() + s.parent.bytes() + s.queue[0].bytes() + s.queue[1].bytes() +
                    s.long_rows.bytes() + s.records.bytes() + s.back.columns.bytes() +
                    s.patterns.both.columns.bytes();
  std::visit(
      [&](auto const& with) {
        sum += with.out.bytes() + with.in.bytes() + with.visited.bytes() + with.next.bytes() +
               2 * with.frontier[0].bytes();
      },
      s.tiles);
  return sum;
}

BreadthFirst GraphSearch::on_host(Context& ctx) const {
  Context::Entry const entry(ctx);
  State const& s = *state_;
  auto const rows = s.level.size();
  auto const levels = static_cast<Index>(s.summary.sizes.size());
  Array<Index> vertices(s.space, rows), starts(s.space, static_cast<std::size_t>(levels) + 1);
  ctx.visit([&](auto& on) {
    order_by_levels(on, ctx.arena(), s.level.data(), s.out.rows, levels, vertices.data(),
                    starts.data());
  });
  BreadthFirst found;
  found.level = to_host(ctx, s.level);
  if (s.with_parents) found.parent = to_host(ctx, s.parent);
  found.starts = to_host(ctx, starts);
  found.vertices = to_host(ctx, vertices);
  found.vertices.resize(static_cast<std::size_t>(found.starts.back()));
  found.found = s.summary.found;
  return found;
}

template <class S>
Components connected_components(Context& ctx, CsrView<S> const& a) {
  Context::Entry const entry(ctx);
  require_square(ctx, a);
  Array<Index> of(ctx.space(), static_cast<std::size_t>(a.rows));
  Index const count = ctx.visit(
      [&](auto& on) { return number_components(on, ctx.arena(), PatternView(a), of.data()); });
  Components found{to_host(ctx, of), std::vector<Index>(static_cast<std::size_t>(count), 0)};
  for (Index const c : found.of) ++found.sizes[c];
  return found;
}

template Components connected_components<double>(Context&, CsrView<double> const&);
template Components connected_components<float>(Context&, CsrView<float> const&);

}  // namespace tcsolve
