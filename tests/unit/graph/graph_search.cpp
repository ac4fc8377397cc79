// SPDX-License-Identifier: Apache-2.0
/// Searches where the matrix lies (graph/search/graph_search.hpp) against breadth_first() on the
/// host, every way of finding a level forced on every level.
#include <tcsolve/graph/search/graph_search.hpp>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Entries = std::set<std::pair<Index, Index>>;

std::vector<Named> searched_graphs() {
  std::vector<Named> list;
  Entries path, cycle, star, tree, clusters, complete;
  for (Index i = 0; i + 1 < 300; ++i) path.insert({i, i + 1});
  for (Index i = 0; i < 2000; ++i) {
    cycle.insert({i, (i + 1) % 2000});
    if (i > 0) star.insert({0, i}), star.insert({i, 0}), tree.insert({(i - 1) / 2, i});
    for (Index j : {i + 1, i + 2, i + 65})
      if (i % 500 > 30 && j < 2000) clusters.insert({i, j}), clusters.insert({j, i});
  }
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 90; ++j) complete.insert({i, j});
  list.push_back({"path", with_entries(300, path)});
  list.push_back({"cycle", with_entries(2000, cycle)});
  list.push_back({"star", with_entries(2000, star)});
  list.push_back({"tree", with_entries(2000, tree)});
  list.push_back({"clusters", with_entries(2000, clusters)});
  list.push_back({"complete", with_entries(90, complete)});
  list.push_back({"one vertex", with_entries(1, {})});
  list.push_back({"no edges", with_entries(70, {})});
  list.push_back({"loops", with_entries(3, {{0, 0}, {1, 1}, {2, 2}})});
  list.push_back({"27-point", generate(Poisson27Params{.n = 9})});
  list.push_back({"hubs", generate(RmatParams{11, 8, Coefficient::random})});
  list.push_back({"directed", random_matrix(1500, 1500, 3, 4)});
  list.push_back({"long rows", generate(LongrowsParams{4000, 3, 2500, Coefficient::random})});
  return list;
}

void expect_equal(BreadthFirst const& got, BreadthFirst const& wanted) {
  EXPECT_EQ(got.level, wanted.level);
  EXPECT_EQ(got.parent, wanted.parent);
  EXPECT_EQ(got.vertices, wanted.vertices);
  EXPECT_EQ(got.starts, wanted.starts);
  EXPECT_EQ(got.found, wanted.found);
}

template <class P>
class GraphSearchOn : public BackendTest<P> {};
TYPED_TEST_SUITE(GraphSearchOn, DoubleOnBoth, Label);

constexpr std::array all_steps{SearchStep::automatic, SearchStep::queue, SearchStep::push_csc,
                               SearchStep::push_csr, SearchStep::pull_csc};

TYPED_TEST(GraphSearchOn, EveryWayOnEveryLevelIsTheQueue) {
  for (auto const& [name, a] : searched_graphs()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a);
    std::mt19937 draw(7);
    auto const any = [&, &a = a] {
      return static_cast<Index>(draw() % static_cast<unsigned>(a.rows));
    };
    for (Along const along : {Along::rows, Along::columns, Along::both})
      for (auto const& [tile, edges] : {std::pair{32, 1}, {64, 1}, {64, -1}, {32, 5}}) {
        SCOPED_TRACE(cat("along ", int(along), ", tiles of ", tile, " with ", edges, " edges"));
        GraphSearch search(this->ctx(), there.view(),
                           {.along = along, .tile = tile, .tile_edges = edges});
        SearchRequest request{.sources = {any()}, .along = along};
        if (edges == 5) request.sources.insert(request.sources.end(), {any(), any(), any()});
        if (edges == -1) {
          request.may_enter.resize(static_cast<std::size_t>(a.rows));
          for (auto& enter : request.may_enter) enter = draw() % 5 != 0;
        }
        if (tile == 32 && edges == 1) request.until = {any(), any()};
        if (edges == 5) request.depth = 2;
        BreadthFirst const wanted = breadth_first(a, request);
        std::vector<SearchTuning> tunings;
        for (SearchStep const step : all_steps) tunings.push_back({.step = step});
        tunings.push_back({.step = SearchStep::queue, .wide = 0});  // several vertices a warp
        for (SearchTuning const& tuning : tunings) {
          SearchStep const step = tuning.step;
          SCOPED_TRACE(cat("step ", int(step), ", wide ", tuning.wide));
          SearchSummary const summary = search.run(this->ctx(), request, tuning);
          expect_equal(search.on_host(this->ctx()), wanted);
          ASSERT_EQ(summary.sizes.size(), static_cast<std::size_t>(wanted.levels()));
          ASSERT_EQ(summary.steps.size() + 1, summary.sizes.size());
          for (Index l = 0; l < wanted.levels(); ++l)
            EXPECT_EQ(summary.sizes[l], wanted.starts[l + 1] - wanted.starts[l]);
          if (step != SearchStep::automatic)
            for (SearchStep const taken : summary.steps) EXPECT_EQ(taken, step);
        }
      }
  }
}

TYPED_TEST(GraphSearchOn, ChangesItsWayAsTheFrontierGrows) {
  Csr<double> const a = generate(RmatParams{14, 16, Coefficient::random});
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view(), {.along = Along::both});
  Index hub = 0;
  for (Index i = 0; i < a.rows; ++i)
    if (a.row_columns(i).size() > a.row_columns(hub).size()) hub = i;
  SearchRequest const request{.sources = {hub}, .along = Along::both};
  SearchSummary const summary = search.run(this->ctx(), request);
  expect_equal(search.on_host(this->ctx()), breadth_first(a, request));
  ASSERT_FALSE(summary.steps.empty());
  EXPECT_EQ(summary.steps.front(), SearchStep::queue);  // one vertex
}

/// Half of all vertices are sources: prices alone would leave the queue in both graphs.
TYPED_TEST(GraphSearchOn, LeavesTheQueueWhereThereAreHubs) {
  auto const steps = [&](Csr<double> const& a) {
    CsrStorage<double> const there(this->ctx(), a);
    GraphSearch search(this->ctx(), there.view(), {.along = Along::both});
    SearchRequest request{.sources = {}, .along = Along::both};
    for (Index v = 0; v < a.rows; v += 2) request.sources.push_back(v);
    SearchSummary const summary = search.run(this->ctx(), request);
    expect_equal(search.on_host(this->ctx()), breadth_first(a, request));
    EXPECT_FALSE(summary.steps.empty());
    // A way that is asked for is taken all the same.
    SearchSummary const forced = search.run(this->ctx(), request, {.step = SearchStep::pull_csc});
    for (SearchStep const step : forced.steps) EXPECT_EQ(step, SearchStep::pull_csc);
    return summary.steps;
  };
  for (SearchStep const step : steps(generate(Poisson27Params{.n = 40})))
    EXPECT_EQ(step, SearchStep::queue);
  std::vector<SearchStep> const with_hubs =
      steps(generate(RmatParams{15, 16, Coefficient::random}));
  ASSERT_FALSE(with_hubs.empty());
  EXPECT_NE(with_hubs.front(), SearchStep::queue);
}

TYPED_TEST(GraphSearchOn, LevelsAloneAreTheSame) {
  Csr<double> const a = generate(Poisson7Params{.n = 17});
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view(), {.bits = false});
  search.run(this->ctx(), {.sources = {5}}, {.parents = false});
  BreadthFirst const got = search.on_host(this->ctx()), wanted = breadth_first(a, {.sources = {5}});
  EXPECT_EQ(got.level, wanted.level);
  EXPECT_EQ(got.vertices, wanted.vertices);
  EXPECT_TRUE(got.parent.empty());
  EXPECT_THROW(search.run(this->ctx(), {.sources = {5}}, {.step = SearchStep::pull_csc}),
               Unsupported);
}

TYPED_TEST(GraphSearchOn, TwentyRunsAreTheSame) {
  Csr<double> const a = generate(RmatParams{12, 8, Coefficient::random});
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view(), {.along = Along::both});
  BreadthFirst const first = breadth_first(a, {.sources = {3}, .along = Along::both});
  for (SearchStep const step : all_steps)
    for (int run = 0; run < 20; ++run) {
      SCOPED_TRACE(cat("step ", int(step), ", run ", run));
      search.run(this->ctx(), {.sources = {3}}, {.step = step});
      expect_equal(search.on_host(this->ctx()), first);
    }
}

/// Every square one in the folder that TCSOLVE_MATRICES names; the small ones in every way.
TYPED_TEST(GraphSearchOn, RealMatricesAsTheQueueDoes) {
  char const* const folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is unset";
  int seen = 0;
  for (auto const& file : std::filesystem::directory_iterator(folder)) {
    if (!file.path().string().ends_with(".mtx.xz")) continue;
    SCOPED_TRACE(file.path().filename().string());
    Csr<double> a;
    try {
      a = read_matrix_market(file.path());
    } catch (MatrixError const&) { continue; }  // one that is complex
    if (a.rows != a.cols) continue;
    ++seen;
    CsrStorage<double> const there(this->ctx(), a);
    for (Along const along : {Along::rows, Along::both}) {
      GraphSearch search(this->ctx(), there.view(), {.along = along});
      SearchRequest const request{.sources = {a.rows / 3}, .along = along};
      BreadthFirst const wanted = breadth_first(a, request);
      for (SearchStep const step : all_steps) {
        if (a.rows > 20'000 && step != SearchStep::automatic && step != SearchStep::queue) continue;
        SCOPED_TRACE(cat("along ", int(along), ", step ", int(step)));
        search.run(this->ctx(), request, {.step = step});
        expect_equal(search.on_host(this->ctx()), wanted);
      }
      search.run(this->ctx(), request, {.step = SearchStep::queue, .wide = 0});
      expect_equal(search.on_host(this->ctx()), wanted);
    }
  }
  EXPECT_GT(seen, 0) << "no matrix in " << folder;
}

Csr<double> path(Index n) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    if (i + 1 < n) a.columns.push_back(i + 1), a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// More levels than one run of the kernel has, and the last of them found.
TYPED_TEST(GraphSearchOn, ALongPathEnds) {
  Csr<double> const a = path(1'000'000);
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view(), {.bits = false});
  EXPECT_EQ(search.run(this->ctx(), {.sources = {0}}).sizes.size(), 1'000'000u);
  BreadthFirst const found = search.on_host(this->ctx());
  EXPECT_EQ(found.level.back(), a.rows - 1);
  EXPECT_EQ(found.parent.back(), a.rows - 2);
}

/// Cancels, or lets the deadline pass, when a search asks for the third time.
struct AtTheThird : CheckListener {
  explicit AtTheThird(Context& ctx) : ctx(ctx) { ctx.listen_to_checks(this); }
  ~AtTheThird() override { ctx.listen_to_checks(nullptr); }
  void on_check() noexcept override {
    if (++checks != 3) return;
    if (until == Deadline::max()) ctx.cancel();
    std::this_thread::sleep_until(until == Deadline::max() ? Deadline::clock::now() : until);
  }
  Context& ctx;
  Deadline until = Deadline::max();
  int checks = 0;
};

TYPED_TEST(GraphSearchOn, EndsWhileItIsAtWork) {
  Csr<double> const a = path(20'000);  // 20 times what a search does without asking
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view(), {.bits = false});
  auto const run = [&] { search.run(this->ctx(), {.sources = {0}}); };
  {
    AtTheThird listener(this->ctx());
    EXPECT_THROW(run(), Cancelled);
    EXPECT_EQ(listener.checks, 3);
  }
  EXPECT_THROW(run(), Cancelled) << "it stands";
  this->ctx().clear_cancel();
  {
    AtTheThird listener(this->ctx());
    listener.until = Deadline::clock::now() + std::chrono::milliseconds(200);
    EXPECT_THROW(this->ctx().setting_up(listener.until, run), OutOfTime);
    EXPECT_EQ(listener.checks, 3);
  }
  run();
  expect_equal(search.on_host(this->ctx()), breadth_first(a, {.sources = {0}}));
}

/// Told before it is taken: of vectors and patterns, then of the tiles.
TYPED_TEST(GraphSearchOn, NeedsMemory) {
  struct Limit {
    explicit Limit(std::int64_t bytes) { faults::limit_available_memory(bytes); }
    ~Limit() { faults::limit_available_memory(-1); }
  };
  Csr<double> const a = generate(Poisson27Params{.n = 20});
  CsrStorage<double> const there(this->ctx(), a);
  auto const says = [&](std::int64_t bytes) {
    return message_of<MemoryError>([&] {
      Limit const limit(bytes);
      GraphSearch(this->ctx(), there.view(), {.tile = 64});
    });
  };
  std::int64_t const vectors = 24 * a.rows + 4 * a.entries();
  EXPECT_NE(says(vectors - 1).find("search without bits"), std::string::npos);
  EXPECT_NE(says(vectors + 1).find("search without bits"), std::string::npos);
  Limit const limit(vectors + 1);
  EXPECT_NO_THROW(GraphSearch(this->ctx(), there.view(), {.tile = 64, .bits = false}));
}

/// A kernel a step where no cooperative one can run: the same.
TYPED_TEST(GraphSearchOn, LaunchesByLevelsAreTheSame) {
  struct Refused {
    Refused() { faults::refuse_cooperative_launches(true); }
    ~Refused() { faults::refuse_cooperative_launches(false); }
  } const refused;
  Csr<double> const a = generate(Poisson27Params{.n = 9});
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch search(this->ctx(), there.view());
  BreadthFirst const wanted = breadth_first(a, {.sources = {100}});
  for (SearchStep const step : all_steps) {
    search.run(this->ctx(), {.sources = {100}}, {.step = step});
    expect_equal(search.on_host(this->ctx()), wanted);
  }
}

TYPED_TEST(GraphSearchOn, ComponentsAreThoseOfTheHost) {
  std::vector<Named> list = searched_graphs();
  Entries pieces;
  for (Index i = 0; i + 1 < 4000; ++i)
    if (i % 37 != 0) pieces.insert({(i * 7) % 4000, ((i + 1) * 7) % 4000});
  list.push_back({"pieces", with_entries(4000, pieces)});
  for (auto const& [name, a] : list) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a);
    Components const got = connected_components(this->ctx(), there.view()),
                     wanted = connected_components(adjacency(a));
    EXPECT_EQ(got.of, wanted.of);
    EXPECT_EQ(got.sizes, wanted.sizes);
  }
}

TYPED_TEST(GraphSearchOn, RefusesByName) {
  Csr<double> const a = with_entries(4, {{0, 1}}), wide = random_matrix(4, 5, 2, 1);
  CsrStorage<double> const there(this->ctx(), a), other(this->ctx(), wide);
  GraphSearch search(this->ctx(), there.view());
  auto const refused = [&](SearchRequest const& request, std::string const& says) {
    std::string const text = message_of<ShapeError>([&] { search.run(this->ctx(), request); });
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  refused({}, "no source");
  refused({.sources = {0, 4}}, "source 4 is outside [0, 4)");
  refused({.sources = {0}, .depth = -2}, "depth -2");
  refused({.sources = {0}, .may_enter = {1}}, "may_enter has 1");
  EXPECT_THROW(GraphSearch(this->ctx(), other.view()), ShapeError);
  EXPECT_THROW(GraphSearch(this->ctx(), there.view(), {.tile = 16}), ShapeError);
  Csr<double> none;
  CsrStorage<double> const empty(this->ctx(), none);
  GraphSearch nothing(this->ctx(), empty.view());
  EXPECT_THROW(nothing.run(this->ctx(), {.sources = {0}}), ShapeError);
}

/// The tiles and the rest of the drawn example (graph/search/bit_tiles.hpp) are all of its edges.
TYPED_TEST(GraphSearchOn, TilesHoldWhatIsDense) {
  Csr<double> const a = generate(Poisson27Params{.n = 17});
  CsrStorage<double> const there(this->ctx(), a);
  GraphSearch all(this->ctx(), there.view(), {.tile = 32, .tile_edges = 1}),
      some(this->ctx(), there.view(), {.tile = 32, .tile_edges = 40}),
      none(this->ctx(), there.view(), {.tile = 32, .tile_edges = 2000});
  std::set<std::pair<Index, Index>> tiles;
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i)) tiles.insert({i / 32, j / 32});
  EXPECT_EQ(all.tiles(), static_cast<Index>(tiles.size()));
  EXPECT_EQ(all.edges_in_tiles(), a.entries());
  EXPECT_LT(some.tiles(), all.tiles());
  EXPECT_LT(some.edges_in_tiles(), a.entries());
  EXPECT_GT(some.edges_in_tiles(), a.entries() / 2);
  EXPECT_EQ(none.tiles(), 0);
  EXPECT_LT(none.bytes(), all.bytes());
}

}  // namespace
}  // namespace tcsolve::test
