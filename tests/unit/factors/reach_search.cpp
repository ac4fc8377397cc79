// SPDX-License-Identifier: Apache-2.0
/// Reaches that are found where the factors lie (factors/apply/reach_search.hpp) against a
/// depth-first search, and the solves that go through their groups against full ones, bit by bit.
#include <tcsolve/factors/apply/factored_inverse.hpp>
#include <tcsolve/factors/apply/reach.hpp>
#include <tcsolve/factors/apply/reach_search.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/two_sided.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// L of blocks of rows, the first of which has `first` rows and each of the others `others`. A row
/// needs the one before it in its block and some of the five before; U has the transposed pattern
/// and values of its own. As many levels as the largest block has rows.
std::shared_ptr<TriangularFactors> chains(Index first, Index count, Index others,
                                          unsigned seed = 1) {
  std::mt19937 draw(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  auto made = std::make_shared<TriangularFactors>();
  Csr<double>& L = made->lower;
  L.rows = L.cols = first + count * others;
  for (Index i = 0; i < L.rows; ++i) {
    Index const begin = i < first ? 0 : i - (i - first) % others;
    for (Index j = std::max(begin, i - 5); j < i; ++j)
      if (j == i - 1 || draw() % 3 == 0) L.columns.push_back(j), L.values.push_back(value(draw));
    L.offsets.push_back(L.entries());
  }
  made->upper = transpose(L.view());
  for (double& v : made->upper.values) v = value(draw);
  made->inverse_pivots = random_values(static_cast<std::size_t>(L.rows), 9);
  return made;
}

/// A triangle and its schedule in a Context's space.
struct There {
  There(Context& ctx, Csr<double> const& t, bool lower)
      : order(level_order(t, lower)), schedule(to_space(ctx, order)), matrix(ctx, t.view()) {
    CsrView<double> const& a = matrix.view();
    OffsetsView const end = a.offsets.wide
                                ? OffsetsView(static_cast<std::int64_t const*>(a.offsets.data) + 1)
                                : OffsetsView(static_cast<std::int32_t const*>(a.offsets.data) + 1);
    graph = {.rows = t.rows,
             .begin = a.offsets,
             .end = end,
             .columns = a.columns,
             .row_of = schedule.row_of.data(),
             .starts = schedule.starts.data(),
             .places = schedule.places,
             .levels = schedule.levels,
             .entries = a.entries};
    view.rows = t.rows, view.begin = a.offsets, view.end = end, view.columns = a.columns;
    view.values = a.values, view.row_of = graph.row_of, view.places = graph.places;
  }
  LevelOrder order;
  LevelSchedule schedule;
  CsrStorage<double> matrix;
  TriangleGraph graph;
  TriangleView<double> view;
};

class ReachSearches : public OnEachBackend {
 protected:
  void check_finds(bool symmetric);
  /// What a mask says, on the host.
  struct Mask {
    ReachState state;
    std::set<Index> rows;
    std::vector<Index> groups;
  };
  Mask read(TriangleMask const& mask, Index n) {
    Mask m;
    m.state = to_host(ctx(), mask.state, ctx().space(), 1)[0];
    auto const words =
        to_host(ctx(), mask.seen, ctx().space(), static_cast<std::size_t>(n) / 64 + 1);
    for (Index i = 0; i < n; ++i)
      if ((words[i / 64] >> (i % 64) & 1) != 0) m.rows.insert(i);
    m.groups = to_host(ctx(), mask.groups, ctx().space(), static_cast<std::size_t>(m.state.groups));
    return m;
  }
  /// The groups and levels that these rows are of.
  static std::pair<std::vector<Index>, Index> groups_of(LevelOrder const& order,
                                                        std::set<Index> const& rows) {
    std::vector<Index> groups;
    std::set<Index> levels;
    for (Index l = 0; l < order.levels(); ++l)
      for (Index p = order.starts[l]; p < order.starts[l + 1]; ++p) {
        if (order.row_of[p] < 0 || !rows.contains(order.row_of[p])) continue;
        if (groups.empty() || groups.back() != p / rows_of_warp) groups.push_back(p / rows_of_warp);
        levels.insert(l);
      }
    return {groups, static_cast<Index>(levels.size())};
  }
};
TCSOLVE_ON_EACH_BACKEND(ReachSearches);

void ReachSearches::check_finds(bool symmetric) {
  constexpr Index size = 40, n = 60 * size;
  auto const factors = chains(size, 59, size);
  if (!symmetric) factors->upper = chains(size, 59, size, 2)->upper;
  There const lower(ctx(), factors->lower, true), upper(ctx(), factors->upper, false);
  TwoSided const around = sides(n);
  Array<Index> const from = to_space(ctx(), around.row.data(), around.row.size());
  auto const search = ReachSearch::of(ctx(), lower.graph, upper.graph, from.data(), 0);
  ASSERT_NE(search, nullptr);
  Context host(Backend::host);
  There const host_lower(host, factors->lower, true), host_upper(host, factors->upper, false);
  TriangleReach down(host_lower.view), back(host_upper.view);
  Offset const most = std::min<Offset>(factors->lower.entries() / ReachSearch::small_part,
                                       ReachSearch::entries_a_level * size);
  std::mt19937 draw(3);
  int known = 0, given_up = 0;
  Index saved = size, wasted = 0;
  for (int round = 0; round < 80; ++round) {
    // No entry, few, too many for a reach to be small, more than few, all.
    int const counts[] = {0, 1, 2, 3, 12, n / 32 + 1, n};
    int const count = round < 40 ? round % 3 : counts[draw() % 7];
    std::vector<double> x(n, 0.0);
    if (count == n) x.assign(n, 1.0);
    for (int k = 0; k < count && count < n; ++k) x[draw() % n] = k == 1 ? nan : 1.0;
    auto const entries =
        static_cast<Index>(std::ranges::count_if(x, [](double v) { return v != 0; }));
    std::vector<double> wide(2 * x.size(), 7.0);  // two apart
    for (std::size_t i = 0; i < x.size(); ++i) wide[2 * i] = x[i];
    Array<double> const there = to_space(ctx(), wide.data(), wide.size());
    ctx().visit([&](auto& on) { search->find(on, ctx().arena(), there.data(), 2); });

    Mask const of_lower = read(search->lower(), n), of_upper = read(search->upper(), n);
    std::vector<Index> seeds;
    for (Index i = 0; i < n; ++i)
      if (x[around.row[i]] != 0) seeds.push_back(i);
    bool const looked = entries <= n / ReachSearch::few_of && wasted <= saved;
    auto const wanted = down.of(seeds, factors->lower.entries());
    ASSERT_EQ(of_lower.state.known != 0, looked && wanted.visited <= most) << round;
    saved = of_lower.state.saved, wasted = of_lower.state.wasted;
    EXPECT_EQ(search->found(ctx()).lower, of_lower.state.known != 0);
    if (of_lower.state.known == 0) {
      ++given_up;
      EXPECT_EQ(of_upper.state.known, 0);
      EXPECT_TRUE(of_upper.rows.empty()) << "what an earlier search found is gone";
      continue;
    }
    ++known;
    std::set<Index> const rows(wanted.rows.begin(), wanted.rows.end());
    EXPECT_EQ(of_lower.rows, rows);
    EXPECT_EQ(of_lower.state.rows, static_cast<Index>(rows.size()));
    EXPECT_EQ(of_lower.state.visited, wanted.visited);
    auto const [groups, levels] = groups_of(lower.order, rows);
    EXPECT_EQ(of_lower.groups, groups);
    EXPECT_EQ(of_lower.state.levels, levels);
    if (of_upper.state.known == 0) continue;
    auto const needed = back.of(wanted.rows, factors->upper.entries());
    EXPECT_EQ(of_upper.rows, std::set<Index>(needed.rows.begin(), needed.rows.end()));
    EXPECT_EQ(of_upper.groups, groups_of(upper.order, of_upper.rows).first);
  }
  EXPECT_GT(known, 30);
  EXPECT_GT(given_up, 5);
}

TEST_P(ReachSearches, FindWhatADepthFirstSearchFinds) { check_finds(true); }
TEST_P(ReachSearches, FindItWherePatternsAreNotSymmetric) { check_finds(false); }

/// Where searches find nothing small they end, and a right-hand side with many entries is not one
/// that they have failed on.
TEST_P(ReachSearches, EndWhereTheyDoNotPay) {
  constexpr Index n = 6000;
  auto const factors = chains(n, 0, 1);
  There const lower(ctx(), factors->lower, true), upper(ctx(), factors->upper, false);
  std::vector<Index> same(n);
  std::iota(same.begin(), same.end(), 0);
  Array<Index> const from = to_space(ctx(), same.data(), same.size());
  auto const search = ReachSearch::of(ctx(), lower.graph, upper.graph, from.data());
  ASSERT_NE(search, nullptr);
  auto const wasted_by = [&](Index entries) {
    std::vector<double> x(n, 0.0);
    std::fill_n(x.begin(), entries, 1.0);
    Array<double> const there = to_space(ctx(), x.data(), x.size());
    ctx().visit([&](auto& on) { search->find(on, ctx().arena(), there.data(), 1); });
    return read(search->lower(), n).state.wasted;
  };
  EXPECT_EQ(wasted_by(n), 0);
  Index last = 0;
  int searched = 0;
  for (int k = 0; k < 2000; ++k) {
    Index const now = wasted_by(1);
    searched += now > last;
    last = now;
  }
  EXPECT_GT(searched, 0);
  EXPECT_LT(searched, 2000);
  EXPECT_EQ(wasted_by(1), last);
}

TEST_P(ReachSearches, NeedManyLevels) {
  auto const factors = chains(100, 3, 100);
  There const lower(ctx(), factors->lower, true), upper(ctx(), factors->upper, false);
  std::vector<Index> same(400);
  std::iota(same.begin(), same.end(), 0);
  Array<Index> const from = to_space(ctx(), same.data(), same.size());
  EXPECT_NE(ReachSearch::of(ctx(), lower.graph, upper.graph, from.data()), nullptr);
  EXPECT_NE(ReachSearch::of(ctx(), lower.graph, upper.graph, from.data(), 200), nullptr);
  EXPECT_EQ(ReachSearch::of(ctx(), lower.graph, upper.graph, from.data(), 201), nullptr);
}

/// The twin of the device's solves: the rows of the groups, in their order.
TEST(ReachSearchesOnHost, SolveByGroupsHasTheBitsOfOneByLevels) {
  constexpr Index long_block = 200, n = long_block + 200 * 12;
  Context ctx(Backend::host);
  auto const factors = chains(long_block, 200, 12);
  There const lower(ctx, factors->lower, true), upper(ctx, factors->upper, false);
  TwoSided const around = sides(n);
  auto const search = ReachSearch::of(ctx, lower.graph, upper.graph, around.row.data(), 0);
  ASSERT_NE(search, nullptr);
  std::mt19937 draw(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<double> x(n, 0.0), y(n), z(n), y_part(n, 0.0), z_part(n, 0.0);
    x[around.row[long_block + draw() % (n - long_block)]] = 1.5 + round;
    double const beta = round % 2 ? 0 : 0.75;
    std::vector<double> out = beta == 0 ? std::vector<double>(n, nan) : random_values(n, round),
                        out_part = out;
    TriangleSolve const down{
        .source = x.data(), .from = around.row.data(), .scale = around.row_scale.data()};
    TriangleSolve up{.source = y.data(),
                     .scale = factors->inverse_pivots.data(),
                     .to = around.column.data(),
                     .factor = around.column_scale.data(),
                     .alpha = -2,
                     .beta = beta,
                     .out = out.data()};
    ctx.visit([&]<class On>(On& on) {
      if constexpr (!OnDevice<On>) {
        solve_triangle(on, lower.view, lower.order, down, y.data());
        solve_triangle(on, upper.view, upper.order, up, z.data());
        search->find(on, ctx.arena(), x.data(), 1);
        ASSERT_TRUE(search->found(ctx).upper);
        solve_groups(on, lower.view, search->lower(), down, y_part.data());
        up.source = y_part.data(), up.out = out_part.data();
        solve_groups(on, upper.view, search->upper(), up, z_part.data());
      }
    });
    EXPECT_EQ(out_part, out);
    EXPECT_EQ(y_part, y);
    for (Index i = 0; i < n; ++i)
      if (z_part[i] != 0)
        ASSERT_EQ(std::bit_cast<std::int64_t>(z_part[i]), std::bit_cast<std::int64_t>(z[i]));
  }
}

template <class S>
void check_solves(Context& ctx, bool symmetric = true) {
  constexpr Index n = 200 + 500 * 12;
  auto factors = chains(200, 500, 12);
  if (!symmetric) factors->upper = chains(200, 500, 12, 2)->upper;
  FactoredInverse<S> M(ctx, factors, sides(n)),
      in_full(ctx, factors, sides(n), ReachOnDevice::never);
  bool const device = ctx.space() != Space::host;
  ASSERT_EQ(M.reached(ctx).has_value(), device) << "the host searches in another way";
  std::mt19937 draw(11);
  int lower = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<double> x(n, 0.0);
    // A dense one between sparse ones, and one of zeros alone.
    if (round % 10 == 9) x = random_values(n, round);
    for (int k = 0; round % 10 < 8 && k <= round % 2; ++k) x[draw() % n] = 1 + k - 0.37 * round;
    double const alpha = round % 2 ? 1 : -0.37, beta = round % 4 < 2 ? 0 : 1.7;
    std::vector<double> const old =
        beta == 0 ? std::vector<double>(n, nan) : random_values(n, round);
    auto const applied = [&](FactoredInverse<S> const& by, Op op) {
      Array<double> const there = to_space(ctx, x.data(), x.size());
      Array<double> y = to_space(ctx, old.data(), old.size());
      by.apply(ctx, alpha, vector_view<double const>(there.data(), n, ctx.space()), beta,
               vector_view(y.data(), n, ctx.space()), op);
      return to_host(ctx, y);
    };
    for (Op const op : {Op::none, Op::transpose}) {
      auto const got = applied(M, op), wanted = applied(in_full, op);
      for (Index i = 0; i < n; ++i) {
        ASSERT_EQ(got[i], wanted[i]) << i << ", round " << round;
        if (got[i] != 0)
          ASSERT_EQ(std::bit_cast<std::int64_t>(got[i]), std::bit_cast<std::int64_t>(wanted[i]));
      }
      if (op == Op::none && device) lower += M.reached(ctx)->lower && round % 10 < 8;
    }
    if (round == 30) {
      factors = std::make_shared<TriangularFactors>(*factors);
      for (double& v : factors->lower.values) v *= 0.5;
      M.update(ctx, factors, sides(n)), in_full.update(ctx, factors, sides(n));
    }
  }
  if (device) EXPECT_GT(lower, 20);
}

TEST_P(ReachSearches, SolvesHaveTheBitsOfFullOnes) { check_solves<double>(ctx()); }
TEST_P(ReachSearches, SolvesOfUnsymmetricPatternsHaveTheBitsOfFullOnes) {
  check_solves<double>(ctx(), false);
}
TEST_P(ReachSearches, SolvesHaveTheBitsOfFullOnesInFp32) { check_solves<float>(ctx()); }

}  // namespace
}  // namespace tcsolve::test
