// SPDX-License-Identifier: Apache-2.0
/// Orders of a matrix: permutations, reverse Cuthill-McKee against its definition, parts by METIS,
/// and the measure that says what they gain.
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/reorder/partition_order.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Dense = Eigen::MatrixXd;

Dense dense(Csr<double> const& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

/// 5-point pattern of a width x height grid, the rows of the grid one after another.
Csr<double> grid(Index width, Index height) {
  std::set<std::pair<Index, Index>> entries;
  for (Index i = 0; i < width * height; ++i) {
    entries.insert({i, i});
    if (i % width + 1 < width) entries.insert({i, i + 1}), entries.insert({i + 1, i});
    if (i + width < width * height) entries.insert({i, i + width}), entries.insert({i + width, i});
  }
  return with_entries(width * height, entries);
}

Csr<double> shuffled(Csr<double> const& a, std::uint64_t seed = 5) {
  return permuted(a.view(), random_permutation(a.rows, seed));
}

Permutation natural(Index n) { return Permutation::identity(n); }

TEST(Permutation, KnowsBothSides) {
  Permutation const P({2, 0, 1, 4, 3});
  EXPECT_EQ(P.size(), 5);
  EXPECT_EQ(P.new_numbers()[2], 0);
  EXPECT_EQ(P.new_numbers()[0], 1);
  EXPECT_EQ(P.new_numbers()[4], 3);
  EXPECT_FALSE(P.is_identity());
  EXPECT_EQ(P.inverse(), Permutation({1, 2, 0, 4, 3}));
  EXPECT_EQ(P.inverse().inverse(), P);
  EXPECT_TRUE(natural(7).is_identity());
  EXPECT_TRUE(Permutation().is_identity());
  EXPECT_EQ(Permutation(std::vector<Index>{}).size(), 0);
}

TEST(Permutation, RefusesWhatIsNone) {
  auto refused = [](std::vector<Index> numbers, std::string const& says) {
    std::string const text = message_of<MatrixError>([&] { Permutation{numbers}; });
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  refused({0, 2, 3}, "element 2 = 3 is outside [0, 3)");
  refused({0, -1}, "element 1 = -1 is outside [0, 2)");
  refused({1, 0, 3, 0}, "elements 1 and 3 are both 0");
}

TEST(Permutation, TheDrawnExample) {
  Dense A(3, 3), B(3, 3);
  A << 1, 2, 0, 3, 0, 4, 0, 5, 6;
  B << 6, 0, 5, 0, 1, 2, 4, 3, 0;
  Csr<double> const a{3, 3, {0, 2, 4, 6}, {0, 1, 0, 2, 1, 2}, {1, 2, 3, 4, 5, 6}};
  ASSERT_EQ(dense(a), A);
  EXPECT_EQ(dense(permuted(a.view(), Permutation({2, 0, 1}))), B);
}

TEST(Permutation, PermutedIsPAPt) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    if (a.rows != a.cols) {
      EXPECT_THROW(permuted(a.view(), natural(a.rows)), ShapeError);
      continue;
    }
    Permutation const P = random_permutation(a.rows, 3);
    Csr<double> const b = permuted(a.view(), P);
    validate(b.view());
    Dense select = Dense::Zero(a.rows, a.rows);
    for (Index i = 0; i < a.rows; ++i) select(i, P.old_numbers()[i]) = 1;
    EXPECT_EQ(dense(b), select * dense(a) * select.transpose());
    EXPECT_EQ(permuted(b.view(), P.inverse()), a);
    // (P A P^T)(P x) = P (A x), in exact arithmetic: entries and x are small integers.
    Csr<double> whole = a;
    for (std::size_t k = 0; k < whole.values.size(); ++k) whole.values[k] = double(k % 7) - 3;
    Eigen::VectorXd x(a.rows);
    for (Index i = 0; i < a.rows; ++i) x[i] = i % 11 - 5;
    Eigen::VectorXd const there = dense(permuted(whole.view(), P)) * (select * x);
    EXPECT_EQ(there, select * (dense(whole) * x));
  }
  EXPECT_THROW(permuted(grid(2, 2).view(), natural(3)), ShapeError);
}

TEST(Adjacency, IsThePatternOfAPlusItsTransposeWithoutTheDiagonal) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    if (a.rows != a.cols) {
      std::string const text = message_of<ShapeError>([&, &a = a] { adjacency(a); });
      EXPECT_NE(text.find(cat(a.rows, " x ", a.cols)), std::string::npos) << text;
      continue;
    }
    std::vector<std::set<Index>> expected(static_cast<std::size_t>(a.rows));
    for (Index i = 0; i < a.rows; ++i)
      for (Index const j : a.row_columns(i))
        if (i != j) expected[i].insert(j), expected[j].insert(i);
    Graph const graph = adjacency(a);
    ASSERT_EQ(graph.vertices(), a.rows);
    for (Index i = 0; i < a.rows; ++i)
      EXPECT_TRUE(std::ranges::equal(graph.of(i), expected[i])) << i;
  }
}

// ---- reverse Cuthill-McKee ----

/// Levels of a breadth-first search from v; vertices out of reach do not count.
Index eccentricity(Graph const& graph, Index v) {
  std::vector<Index> distance(static_cast<std::size_t>(graph.vertices()), -1);
  std::queue<Index> queue({v});
  distance[v] = 0;
  Index most = 0;
  while (!queue.empty()) {
    Index const u = queue.front();
    queue.pop();
    most = distance[u];
    for (Index const w : graph.of(u))
      if (distance[w] < 0) distance[w] = distance[u] + 1, queue.push(w);
  }
  return most;
}

/// Checks each component against the definition: read backwards, the first vertex is as far from
/// others as the component's lowest, every other follows the earliest of its neighbours, and those
/// of one parent ascend by degree, then number.
void is_reverse_cuthill_mckee(Graph const& graph, Permutation const& P) {
  ASSERT_EQ(P.size(), graph.vertices());
  std::span<Index const> const old = P.old_numbers();
  Index end = 0;
  while (end < P.size()) {
    Index const begin = end;
    std::set<Index> reached{old[begin]};
    std::queue<Index> queue({old[begin]});
    while (!queue.empty()) {
      for (Index const w : graph.of(queue.front()))
        if (reached.insert(w).second) queue.push(w);
      queue.pop();
    }
    end = begin + static_cast<Index>(reached.size());
    std::vector<Index> order(old.begin() + begin, old.begin() + end);
    ASSERT_EQ(std::set<Index>(order.begin(), order.end()), reached) << "a component is one piece";
    std::ranges::reverse(order);
    std::vector<Index> place(static_cast<std::size_t>(graph.vertices()), P.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
    EXPECT_GE(eccentricity(graph, order[0]), eccentricity(graph, *reached.begin()));
    std::array<Index, 3> before{-1, -1, -1};
    for (std::size_t i = 1; i < order.size(); ++i) {
      Index parent = P.size();
      for (Index const w : graph.of(order[i])) parent = std::min(parent, place[w]);
      std::array<Index, 3> const key{parent, graph.degree(order[i]), order[i]};
      ASSERT_LT(parent, static_cast<Index>(i));
      ASSERT_LT(before, key);
      before = key;
    }
  }
}

TEST(CuthillMckee, IsWhatItsDefinitionSays) {
  for (auto const& [name, a] : adversarial()) {
    if (a.rows != a.cols) {
      EXPECT_THROW(reverse_cuthill_mckee(Pattern(a)), ShapeError) << name;
      continue;
    }
    SCOPED_TRACE(name);
    is_reverse_cuthill_mckee(adjacency(a), reverse_cuthill_mckee(Pattern(a)));
  }
  for (std::uint64_t seed : {1, 2, 3, 4})
    for (Index most : {1, 2, 4, 9}) {
      SCOPED_TRACE(cat("seed ", seed, ", rows to ", most));
      Csr<double> const a = random_matrix(200, 200, most, seed);
      is_reverse_cuthill_mckee(adjacency(a), reverse_cuthill_mckee(Pattern(a)));
    }
  Csr<double> const many =
      shuffled(with_entries(60, {{3, 4}, {4, 5}, {10, 30}, {30, 50}, {50, 10}}));
  is_reverse_cuthill_mckee(adjacency(many), reverse_cuthill_mckee(Pattern(many)));
}

TEST(CuthillMckee, SmallExamplesByHand) {
  EXPECT_EQ(reverse_cuthill_mckee(Pattern(Csr<double>{})).size(), 0);
  EXPECT_EQ(reverse_cuthill_mckee(Pattern(grid(1, 1))), natural(1));
  // A diagonal matrix and an empty one stay as they are.
  EXPECT_TRUE(reverse_cuthill_mckee(Pattern(with_entries(9, {}))).is_identity());
  EXPECT_TRUE(
      reverse_cuthill_mckee(Pattern(with_entries(3, {{0, 0}, {1, 1}, {2, 2}}))).is_identity());
  // The path 2 - 0 - 3 - 1: from 0 to 1 (distance 2), from there to 2; 2 0 3 1, reversed.
  Csr<double> const path = with_entries(4, {{0, 2}, {0, 3}, {1, 3}, {2, 0}, {3, 0}, {3, 1}});
  EXPECT_EQ(reverse_cuthill_mckee(Pattern(path)), Permutation({1, 3, 0, 2}));
  // A star: from leaf 0 to leaf 1, as far as any; 1, the centre, the other leaves, reversed.
  Csr<double> const star = with_entries(5, {{2, 0}, {2, 1}, {2, 3}, {2, 4}});
  EXPECT_EQ(reverse_cuthill_mckee(Pattern(star)), Permutation({4, 3, 0, 2, 1}));
}

Index bandwidth_after(Csr<double> const& a, Permutation const& P) {
  return locality(a, P).bandwidth;
}

TEST(CuthillMckee, BringsTheBandwidthBack) {
  // A path, and the same with one triangle only: the pattern is that of A + A^T.
  std::set<std::pair<Index, Index>> upper;
  for (Index i = 0; i + 1 < 1000; ++i) upper.insert({i, i + 1});
  for (Csr<double> const& a : {shuffled(grid(1000, 1)), shuffled(with_entries(1000, upper))}) {
    EXPECT_GT(locality(a).bandwidth, 900);
    EXPECT_EQ(bandwidth_after(a, reverse_cuthill_mckee(Pattern(a))), 1);
  }
  // A grid by its diagonals: at most one more than the shorter side.
  for (auto [width, height] : {std::pair<Index, Index>{50, 50}, {12, 200}, {200, 12}}) {
    Csr<double> const a = shuffled(grid(width, height));
    EXPECT_GT(locality(a).bandwidth, 2000);
    EXPECT_LE(bandwidth_after(a, reverse_cuthill_mckee(Pattern(a))), std::min(width, height) + 1);
  }
  // Diagonal planes of a cube hold at most 3/4 n^2 points, shells around its corner 3 n^2.
  for (Index n : {8, 16}) {
    Csr<double> const seven = shuffled(generate(Poisson7Params{.n = n}));
    EXPECT_LE(bandwidth_after(seven, reverse_cuthill_mckee(Pattern(seven))), n * n);
    Csr<double> const full = shuffled(generate(Poisson27Params{.n = n}));
    EXPECT_LE(bandwidth_after(full, reverse_cuthill_mckee(Pattern(full))), 3 * n * n);
  }
}

TEST(CuthillMckee, RefusesAnotherNumberOfFirstVertices) {
  EXPECT_THROW(reverse_cuthill_mckee(adjacency(grid(3, 3)), natural(8).old_numbers()), ShapeError);
}

// ---- the measure ----

Locality by_sets(Csr<double> const& a) {
  Locality seen;
  seen.entries = a.entries();
  seen.row_blocks = (a.rows + 31) / 32;
  for (Index block = 0; block < seen.row_blocks; ++block) {
    std::set<Index> sectors, columns;
    for (Index i = 32 * block; i < std::min(a.rows, 32 * (block + 1)); ++i) {
      Index first = i;
      for (Index const j : a.row_columns(i)) {
        sectors.insert(j / 4);
        columns.insert(j);
        first = std::min(first, j);
        seen.bandwidth = std::max(seen.bandwidth, std::abs(i - j));
      }
      seen.profile += i - first;
    }
    seen.sectors += static_cast<Offset>(sectors.size());
    if (!columns.empty() && *columns.rbegin() - *columns.begin() >= 65536) ++seen.wide_blocks;
  }
  return seen;
}

void same(Locality const& a, Locality const& b) {
  EXPECT_EQ(a.bandwidth, b.bandwidth);
  EXPECT_EQ(a.profile, b.profile);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.sectors, b.sectors);
  EXPECT_EQ(a.row_blocks, b.row_blocks);
  EXPECT_EQ(a.wide_blocks, b.wide_blocks);
}

TEST(Locality, CountsWhatSetsCount) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    same(locality(a), by_sets(a));
    if (a.rows != a.cols) continue;
    Permutation const P = random_permutation(a.rows, 9);
    same(locality(a, P), by_sets(permuted(a.view(), P)));
  }
  for (Index apart : {65535, 65536}) {
    Csr<double> const a = with_entries(70000, {{40, 100}, {50, 100 + apart}});
    same(locality(a), by_sets(a));
    EXPECT_EQ(locality(a).wide_blocks, apart == 65536);
  }
  EXPECT_THROW(locality(grid(3, 3), natural(8)), ShapeError);
}

TEST(Locality, NumbersByHand) {
  // Tridiagonal, 64 rows: a block reads its own 8 sectors and one of its neighbour.
  Locality const line = locality(grid(64, 1));
  EXPECT_EQ(line.sectors, 18);
  EXPECT_EQ(line.entries, 190);
  EXPECT_DOUBLE_EQ(line.gather(), 32.0 * 18 / 190);
  EXPECT_DOUBLE_EQ(line.cost(), 10 + 16.0 * 18 / 190);
  EXPECT_EQ(line.bandwidth, 1);
  EXPECT_EQ(line.profile, 63);
  Locality const wide = locality(with_entries(70000, {{0, 0}, {1, 69999}}));
  EXPECT_DOUBLE_EQ(wide.cost(), 10 + 2.0 / wide.row_blocks + 16);
  EXPECT_EQ(locality(with_entries(5, {})).cost(), 10);
  EXPECT_EQ(Locality{}.gather(), 0);
}

// ---- a mesh in no order ----

class RenumberedMesh : public testing::Test {
 protected:
  Csr<double> const mesh = generate(Poisson27Params{.n = 24}), a = shuffled(mesh);
  Locality const in_order = locality(mesh);
};

TEST_F(RenumberedMesh, IsFarFromItsNaturalOrder) {
  EXPECT_GT(locality(a).gather(), 8 * in_order.gather());
}

TEST_F(RenumberedMesh, ComesBackByCuthillMckee) {
  Reordering const order = reordering(a, Reorder::rcm);
  EXPECT_EQ(order.taken, Reorder::rcm);
  EXPECT_EQ(order.P, reverse_cuthill_mckee(Pattern(a)));
  same(order.before, locality(a));
  same(order.after, locality(permuted(a.view(), order.P)));
  EXPECT_LE(order.after.gather(), 1.1 * in_order.gather());
  EXPECT_LE(order.after.cost(), 1.05 * in_order.cost());
}

TEST_F(RenumberedMesh, ComesBackByMetis) {
  if (!metis_built()) {
    std::string const text = message_of<NotBuilt>([&] { reordering(a, Reorder::metis); });
    EXPECT_NE(text.find("libmetis-dev"), std::string::npos) << text;
    return;
  }
  Reordering const order = reordering(a, Reorder::metis);
  EXPECT_EQ(order.taken, Reorder::metis);
  same(order.after, locality(permuted(a.view(), order.P)));
  EXPECT_LE(order.after.gather(), 1.1 * in_order.gather());
  EXPECT_EQ(order.P, reordering(a, Reorder::metis).P) << "the same order on every run";
}

TEST_F(RenumberedMesh, AutoTakesAnOrderWhereOneIsMissing) {
  Reordering const order = reordering(a, Reorder::automatic);
  EXPECT_NE(order.taken, Reorder::none);
  EXPECT_LE(order.after.cost(), 0.8 * order.before.cost());
  same(order.before, locality(a));
  same(order.after, locality(a, order.P));
  EXPECT_EQ(text(order).substr(0, 5), std::string(name(order.taken)).substr(0, 3) + ": ");
}

TEST_F(RenumberedMesh, AutoLeavesAGoodOrderAlone) {
  Reordering const order = reordering(mesh, Reorder::automatic);
  EXPECT_EQ(order.taken, Reorder::none);
  EXPECT_TRUE(order.P.is_identity());
  same(order.after, in_order);
}

TEST(Reordering, NoneIsTheIdentity) {
  Csr<double> const a = shuffled(grid(20, 20));
  Reordering const order = reordering(a, Reorder::none);
  EXPECT_EQ(order.taken, Reorder::none);
  EXPECT_TRUE(order.P.is_identity());
  same(order.after, order.before);
}

TEST(Reordering, AutoLeavesWhatNoOrderHelps) {
  // A random graph has no parts to speak of.
  Csr<double> const a = random_matrix(6000, 6000, 24, 8);
  EXPECT_EQ(reordering(a, Reorder::automatic).taken, Reorder::none);
}

TEST(Reordering, TheRuleIsAFifth) {
  auto with_cost = [](double bytes) {  // 10 + 16 sectors / entries
    Locality l;
    l.entries = 1600;
    l.sectors = static_cast<Offset>(std::lround((bytes - 10) * 100));
    return l;
  };
  ASSERT_DOUBLE_EQ(with_cost(12).cost(), 12);
  EXPECT_TRUE(pays(with_cost(15.9), with_cost(20)));
  EXPECT_FALSE(pays(with_cost(16.1), with_cost(20)));
  EXPECT_TRUE(could_pay(with_cost(12.6)));
  EXPECT_FALSE(could_pay(with_cost(12.4)));
}

TEST(Reordering, EveryOrderOfEveryMatrixIsAPermutation) {
  for (auto const& [name, a] : adversarial())
    for (Reorder const reorder :
         {Reorder::none, Reorder::rcm, Reorder::metis, Reorder::automatic}) {
      SCOPED_TRACE(cat(name, " ", tcsolve::name(reorder)));
      if (a.rows != a.cols) {
        EXPECT_THROW(reordering(a, reorder), ShapeError);
      } else if (reorder != Reorder::metis || metis_built()) {
        EXPECT_EQ(reordering(a, reorder).P.size(), a.rows);
      }
    }
}

// ---- parts ----

class Parts : public testing::Test {
 protected:
  void SetUp() override {
    if (!metis_built()) GTEST_SKIP() << "this build has no METIS";
  }
};

TEST_F(Parts, OfPatternsThatBreakPartitioners) {
  std::set<std::pair<Index, Index>> star, rows_of_hub;
  for (Index i = 1; i < 3000; ++i) star.insert({0, i}), star.insert({i, 0});
  for (Index i = 0; i < 3000; ++i) rows_of_hub.insert({17, i});
  for (Index n : {0, 1, 2, 3000})
    EXPECT_EQ(partition_order(Pattern(with_entries(n, {})), 100).size(), n);
  for (auto const& entries : {star, rows_of_hub})
    for (Index part_rows : {1, 7, 100, 2999, 3000, 5000})
      EXPECT_EQ(partition_order(Pattern(with_entries(3000, entries)), part_rows).size(), 3000);
  EXPECT_THROW(partition_order(Pattern(grid(3, 3)), 0), ShapeError);
}

TEST_F(Parts, AreOfAboutEqualSizeWithFewEdgesBetween) {
  Graph const graph = adjacency(shuffled(grid(100, 100)));
  std::vector<Index> const part = partition(graph, 10);
  std::vector<Index> sizes(10, 0);
  Offset cut = 0;
  for (Index v = 0; v < graph.vertices(); ++v) {
    ASSERT_TRUE(part[v] >= 0 && part[v] < 10);
    ++sizes[part[v]];
    for (Index const w : graph.of(v)) cut += part[v] != part[w];
  }
  EXPECT_LE(std::ranges::max(sizes), 1100);
  EXPECT_LE(cut / 2, 800);  // ten strips would cut 900
}

TEST_F(Parts, AreContiguousInTheOrder) {
  Csr<double> const a = shuffled(grid(64, 64));
  Graph const graph = adjacency(a);
  Permutation const P = partition_order(graph, 256);
  std::vector<Index> const part = partition(graph, 16);
  Index changes = 0;
  for (Index i = 1; i < P.size(); ++i)
    changes += part[P.old_numbers()[i]] != part[P.old_numbers()[i - 1]];
  EXPECT_EQ(changes, 15);
  // The parts themselves stand in the reverse Cuthill-McKee order of how they touch.
  std::vector<Index> parts;
  for (Index const v : P.old_numbers())
    if (parts.empty() || parts.back() != part[v]) parts.push_back(part[v]);
  std::set<std::pair<Index, Index>> touching;
  for (Index v = 0; v < graph.vertices(); ++v)
    for (Index const w : graph.of(v))
      if (part[v] != part[w]) touching.insert({part[v], part[w]});
  EXPECT_EQ(Permutation(parts), reverse_cuthill_mckee(Pattern(with_entries(16, touching))));
}

}  // namespace
}  // namespace tcsolve::test
