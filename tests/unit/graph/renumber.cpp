// SPDX-License-Identifier: Apache-2.0
/// Orders, reordered matrices and their measure, made level by level and row by row
/// (graph/reorder/renumber.hpp) on either side, against the serial code on the host.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/locality.hpp>
#include <tcsolve/graph/reorder/renumber.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Edges = std::set<std::pair<Index, Index>>;

void join(Edges& edges, Index i, Index j) { edges.insert({i, j}), edges.insert({j, i}); }

/// The pattern of a mesh of width x height quadrilaterals from vertex `first` on.
void add_grid(Edges& edges, Index first, Index width, Index height) {
  for (Index i = 0; i < width * height; ++i) {
    if (i % width + 1 < width) join(edges, first + i, first + i + 1);
    if (i + width < width * height) join(edges, first + i, first + i + width);
  }
}

Csr<double> shuffled(Csr<double> const& a, std::uint64_t seed = 5) {
  return permuted(a.view(), random_permutation(a.rows, seed));
}

/// `edges` edges between vertices drawn from the seed; self-loops too.
Csr<double> random_graph(Index n, Index edges, std::uint64_t seed, bool symmetric = true) {
  std::mt19937_64 bits(seed);
  Edges all;
  for (Index k = 0; k < edges; ++k) {
    auto const i = Index(bits() % std::uint64_t(n)), j = Index(bits() % std::uint64_t(n));
    all.insert({i, j});
    if (symmetric) all.insert({j, i});
  }
  return with_entries(n, all);
}

std::vector<Named> square_matrices() {
  std::vector<Named> list;
  for (Named const& m : adversarial())
    if (m.matrix.rows == m.matrix.cols) list.push_back(m);
  list.push_back({"27-point, as given", generate(Poisson27Params{.n = 11})});
  list.push_back({"27-point, renumbered", shuffled(generate(Poisson27Params{.n = 13}))});
  list.push_back(
      {"27-point, renumbered once more", shuffled(generate(Poisson27Params{.n = 13}), 8)});
  list.push_back({"7-point, renumbered", shuffled(generate(Poisson7Params{.n = 17}))});
  list.push_back({"7-point, large", shuffled(generate(Poisson7Params{.n = 28}))});
  list.push_back({"three unknowns a node", shuffled(generate(ElasticityParams{.n = 7}))});
  list.push_back({"hubs", generate(RmatParams{12, 8, Coefficient::random})});
  list.push_back({"long rows", generate(LongrowsParams{3000, 5, 700, Coefficient::random})});
  Edges path, star, wheel, pieces, meshes, triangle;
  for (Index i = 0; i + 1 < 3000; ++i) join(path, i, i + 1);
  for (Index i = 0; i < 5000; ++i)
    if (i != 1234) join(star, i, 1234);
  for (Index i = 1; i < 2000; ++i) join(wheel, 0, i), join(wheel, i, i % 1999 + 1);
  // Components of many sizes; every fifth vertex is alone, half of these on the diagonal.
  for (Index i = 0; i < 4000; ++i) {
    if (i % 5 == 0 && i % 2 == 0) pieces.insert({i, i});
    if (i % 5 != 0 && i % 5 != 4 && i % 37 != 0) join(pieces, i, i + 1);
    if (i % 5 == 1 && i % 100 < 60 && i + 5 < 4000) join(pieces, i, i + 5);
  }
  for (Index k = 0; k < 12; ++k) add_grid(meshes, 700 * k, 7 + 2 * k, 20);
  for (Index i = 0; i + 1 < 900; ++i) triangle.insert({i, i + 1}), triangle.insert({i, i / 2});
  list.push_back({"path", shuffled(with_entries(3000, path))});
  list.push_back({"star", with_entries(5000, star)});
  list.push_back({"wheel", shuffled(with_entries(2000, wheel))});
  list.push_back({"pieces", with_entries(4000, pieces)});
  list.push_back({"pieces, renumbered", shuffled(with_entries(4000, pieces))});
  list.push_back({"meshes apart", shuffled(with_entries(8400, meshes))});
  list.push_back({"one triangle", shuffled(with_entries(900, triangle))});
  list.push_back({"nothing", with_entries(500, {})});
  for (std::uint64_t seed : {1, 2, 3}) {
    list.push_back({cat("random graph ", seed), random_graph(2000, 3000, seed)});
    list.push_back({cat("sparse random graph ", seed), random_graph(3000, 1300, seed)});
    list.push_back({cat("random digraph ", seed), random_graph(1500, 4000, seed, false)});
    list.push_back({cat("random rows ", seed), random_matrix(800, 800, 30, seed)});
    list.push_back({cat("mixed rows ", seed), mixed_rows(900, 900, seed)});
  }
  return list;
}

/// Old numbers made by levels in the Context's space, whatever the matrix; none beyond the limits.
std::optional<Permutation> by_levels(Context& ctx, Csr<double> const& a,
                                     CuthillMckeeLimits const& limits = {}) {
  CsrStorage<double> const there(ctx, a.view());
  std::vector<Index> old_numbers(static_cast<std::size_t>(a.rows), -1);
  PatternView const pattern(there.view());
  bool const found = ctx.visit([&](auto& on) {
    return cuthill_mckee(on, ctx.arena(), pattern, limits, old_numbers.data());
  });
  if (found) return Permutation(std::move(old_numbers));
  EXPECT_TRUE(std::ranges::all_of(old_numbers, [](Index i) { return i == -1; }));
  return std::nullopt;
}

template <class P>
class Renumber : public BackendTest<P> {};
TYPED_TEST_SUITE(Renumber, DoubleOnBoth, Label);

TYPED_TEST(Renumber, CuthillMckeeByLevelsIsThatByVertices) {
  for (auto const& [name, a] : square_matrices()) {
    SCOPED_TRACE(name);
    Permutation const wanted = reverse_cuthill_mckee(Pattern(a));
    for (bool const one_kernel : {true, false}) {
      auto const got = by_levels(this->ctx(), a, {.one_kernel = one_kernel});
      ASSERT_TRUE(got);
      EXPECT_EQ(*got, wanted) << (one_kernel ? "one kernel" : "a kernel a level");
    }
  }
}

TYPED_TEST(Renumber, CuthillMckeeWithoutCooperativeLaunchesIsTheSame) {
  Csr<double> const a = shuffled(generate(Poisson7Params{.n = 15}));
  struct Refused {
    Refused() { faults::refuse_cooperative_launches(true); }
    ~Refused() { faults::refuse_cooperative_launches(false); }
  } const refused;
  EXPECT_EQ(by_levels(this->ctx(), a), reverse_cuthill_mckee(Pattern(a)));
}

/// Levels of more parents than a warp sums, where the children are scanned instead.
TYPED_TEST(Renumber, CuthillMckeeOfWideLevelsIsThatByVertices) {
  constexpr Index wide = 20000;
  Edges broom;  // a hub, its neighbours, which have 0 to 2 children, and a handle
  for (Index i = 1; i <= wide; ++i) join(broom, 0, i);
  Index next = wide + 1;
  for (Index i = 1; i <= wide; ++i)
    for (Index c = 0; c < i % 3; ++c) join(broom, i, next++);
  join(broom, 0, next);
  for (Index const end = next + 40; next < end; ++next) join(broom, next, next + 1);
  Csr<double> const a = shuffled(with_entries(next + 1, broom));
  Permutation const wanted = reverse_cuthill_mckee(Pattern(a));
  for (bool const one_kernel : {true, false}) {
    auto const got = by_levels(this->ctx(), a, {.one_kernel = one_kernel});
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, wanted) << (one_kernel ? "one kernel" : "a kernel a level");
  }
}

/// Whichever way is taken: small ones one vertex after another, large ones by levels.
TYPED_TEST(Renumber, CuthillMckeeOfTheContextIsTheSame) {
  Edges strip;
  add_grid(strip, 0, 3, 12000);  // 12,000 levels: given up on the way
  Edges hub;                     // of 2,000 entries among 84,000
  add_grid(hub, 0, 100, 200);
  for (Index i = 10; i < 20000; i += 10) join(hub, 0, i);
  for (auto const& [name, a] :
       {Named{"small", shuffled(generate(Poisson7Params{.n = 9}))},
        Named{"large", shuffled(generate(Poisson27Params{.n = 24}))},
        Named{"strip", shuffled(with_entries(36000, strip))},
        Named{"hub", shuffled(with_entries(20000, hub))},
        Named{"long row", generate(LongrowsParams{40000, 1, 9000, Coefficient::random})},
        Named{"nonsymmetric", random_graph(20000, 60000, 4, false)}}) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    EXPECT_EQ(reverse_cuthill_mckee(this->ctx(), there.view()), reverse_cuthill_mckee(Pattern(a)));
  }
  Csr<double> const wide = random_matrix(4, 5, 3, 1);
  CsrStorage<double> const there(this->ctx(), wide.view());
  EXPECT_THROW(reverse_cuthill_mckee(this->ctx(), there.view()), ShapeError);
}

TYPED_TEST(Renumber, CuthillMckeeGivesUpBeyondItsLimits) {
  Edges path, star;
  for (Index i = 0; i + 1 < 1000; ++i) join(path, i, i + 1), join(star, i, 999);
  Csr<double> const a = with_entries(1000, path), b = with_entries(1000, star);
  for (bool const one_kernel : {true, false}) {
    EXPECT_FALSE(by_levels(this->ctx(), a, {.levels = 900, .one_kernel = one_kernel}));
    EXPECT_FALSE(by_levels(this->ctx(), a, {.levels = 1900, .one_kernel = one_kernel}));  // second
    EXPECT_TRUE(by_levels(this->ctx(), a, {.levels = 2100, .one_kernel = one_kernel}));
  }
  // Two searches of 1000 levels from an end: half of the limit tells in the first.
  EXPECT_FALSE(by_levels(this->ctx(), a, {.levels = 1999}));
  EXPECT_TRUE(by_levels(this->ctx(), a, {.levels = 2000}));
  EXPECT_TRUE(by_levels(this->ctx(), a, {.longest = 2}));
  EXPECT_FALSE(by_levels(this->ctx(), b, {.longest = 900}));
  EXPECT_TRUE(by_levels(this->ctx(), b, {.longest = 999, .levels = 100}));
  // A long column counts as a long row does.
  Edges half;
  for (Index i = 0; i < 999; ++i) half.insert({i, 999});
  EXPECT_FALSE(by_levels(this->ctx(), with_entries(1000, half), {.longest = 900}));
}

/// A hub of a twenty-fifth of the entries is walked where the matrix lies; a small matrix is not.
TEST(RenumberLimits, AreThoseMeasured) {
  EXPECT_TRUE(tcsolve::by_levels(1'362'000, 52'431));
  EXPECT_FALSE(tcsolve::by_levels(1'362'000, 1'362'000 / 16 + 1));
  EXPECT_TRUE(tcsolve::by_levels(30'000, 1'875));
  EXPECT_FALSE(tcsolve::by_levels(30'000, 1'876));
  EXPECT_FALSE(tcsolve::by_levels(29'999, 5));
}

TYPED_TEST(Renumber, PermutedThereIsPermutedHere) {
  auto list = square_matrices();
  list.push_back({"rows around 256", random_matrix(700, 700, 300, 11)});
  for (auto const& [name, a] : list) {
    SCOPED_TRACE(name);
    Permutation const P = random_permutation(a.rows, 3);
    CsrStorage<double> const there(this->ctx(), a.view());
    CsrStorage<double> const moved = permuted(this->ctx(), there.view(), P);
    EXPECT_EQ(moved.view().space, this->ctx().space());
    Csr<double> const wanted = permuted(a.view(), P);
    EXPECT_EQ(to_host(this->ctx(), moved.view()), wanted);
    if (this->ctx().space() == Space::cuda) continue;
    Host here;
    CsrStorage<double> const twin(this->ctx(), a.rows, a.cols,
                                  host::permute(here, this->ctx().arena(), a.view(),
                                                P.old_numbers().data(), P.new_numbers().data()));
    EXPECT_EQ(to_host(this->ctx(), twin.view()), wanted);
  }
  Csr<double> const a = random_matrix(30, 30, 4, 1);
  CsrStorage<double> const there(this->ctx(), a.view());
  EXPECT_THROW(permuted(this->ctx(), there.view(), Permutation::identity(29)), ShapeError);
}

TYPED_TEST(Renumber, LocalityThereIsLocalityHere) {
  auto list = adversarial();
  list.push_back({"27-point, renumbered", shuffled(generate(Poisson27Params{.n = 13}))});
  list.push_back({"hubs", generate(RmatParams{12, 8, Coefficient::random})});
  list.push_back({"wide", random_matrix(500, 300000, 60, 7)});
  list.push_back({"mixed", mixed_rows(60, 70000, 3)});
  for (Index const apart : {65535, 65536})
    list.push_back({cat(apart, " apart"), with_entries(70000, {{40, 100}, {50, 100 + apart}})});
  for (auto const& [name, a] : list) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(this->ctx(), a.view());
    Locality const here = locality(a);
    Locality const got = locality(this->ctx(), there.view());
    LocalitySums const sums = this->ctx().visit(
        [&](auto& on) { return measure_locality(on, this->ctx().arena(), there.view()); });
    for (auto const& [bandwidth, profile, sectors, wide] :
         {std::tuple{got.bandwidth, got.profile, got.sectors, got.wide_blocks},
          std::tuple{sums.bandwidth, sums.profile, sums.sectors, sums.wide_blocks}}) {
      EXPECT_EQ(bandwidth, here.bandwidth);
      EXPECT_EQ(profile, here.profile);
      EXPECT_EQ(sectors, here.sectors);
      EXPECT_EQ(wide, here.wide_blocks);
    }
    EXPECT_EQ(got.entries, here.entries);
    EXPECT_EQ(got.row_blocks, here.row_blocks);
  }
}

}  // namespace
}  // namespace tcsolve::test
