// SPDX-License-Identifier: Apache-2.0
/// Patterns by blocks, and products that go by them, against those of entries, bit by bit.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/blocks.hpp>
#include <tcsolve/sparse/triple_product.hpp>

#include <cstring>
#include <limits>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using sparse::ProductBlocks;
using sparse::ProductLimits;

/// Each entry of `blocks` becomes r x c entries, of which every `drop`-th is left out; 0: none.
template <class T>
Csr<T> by_entries(Csr<double> const& blocks, Index r, Index c, Offset drop, std::uint64_t seed) {
  Csr<T> a{blocks.rows * r, blocks.cols * c, {0}, {}, {}};
  auto const values = random_values(static_cast<std::size_t>(blocks.entries()) * r * c, seed);
  std::size_t at = 0;
  for (Index I = 0; I < blocks.rows; ++I)
    for (Index i = 0; i < r; ++i) {
      for (Offset k = blocks.offsets[I]; k < blocks.offsets[I + 1]; ++k)
        for (Index j = 0; j < c; ++j) {
          T const value = static_cast<T>(values[at++]);
          if (drop > 0 && static_cast<Offset>(at) % drop == 0) continue;
          a.columns.push_back(blocks.columns[k] * c + j);
          a.values.push_back(value);
        }
      a.offsets.push_back(a.entries());
    }
  return a;
}

template <class P>
class SparseBlocks : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseBlocks, RealsOnBoth, Label);

TYPED_TEST(SparseBlocks, ThoseThatHoldAnEntry) {
  using T = typename TestFixture::T;
  Csr<T> const a{4, 6, {0, 3, 5, 7, 9}, {0, 1, 4, 0, 1, 2, 3, 2, 3}, std::vector<T>(9, 1)};
  CsrStorage<T> const A(this->ctx(), Csr<T>(a));
  auto const pattern = [&](sparse::OwnedPattern const& of) {
    std::vector<T> const ones(static_cast<std::size_t>(of.entries), 1);
    There<T> there(this->ctx(), ones);
    return to_host(this->ctx(), of.with(static_cast<T const*>(there.data())));
  };
  Csr<T> const blocks = pattern(sparse::blocks_of(this->ctx(), A.view(), 2, 2));
  EXPECT_EQ(blocks.cols, 3);
  EXPECT_EQ(blocks.offsets, (std::vector<Offset>{0, 2, 3}));
  EXPECT_EQ(blocks.columns, (std::vector<Index>{0, 2, 1}));
  EXPECT_EQ(pattern(sparse::blocks_of(this->ctx(), A.view(), 1, 1)), a);
  EXPECT_THROW(sparse::blocks_of(this->ctx(), A.view(), 3, 2), ShapeError);
  EXPECT_THROW(sparse::blocks_of(this->ctx(), A.view(), 2, 4), ShapeError);
  EXPECT_THROW(sparse::blocks_of(this->ctx(), A.view(), 0, 1), ShapeError);

  Csr<double> const random = random_matrix(40, 30, 9, 3);
  for (auto const& [r, c] : {std::pair<Index, Index>{1, 3}, {3, 1}, {3, 6}, {16, 2}}) {
    SCOPED_TRACE(cat(r, " x ", c));
    Csr<T> const full = by_entries<T>(random, r, c, 0, 5);
    CsrStorage<T> const F(this->ctx(), Csr<T>(full));
    sparse::OwnedPattern const of = sparse::blocks_of(this->ctx(), F.view(), r, c);
    EXPECT_EQ(pattern(of).columns, random.columns);
    EXPECT_EQ(pattern(of).offsets, random.offsets);
    Csr<T> const back = pattern(sparse::entries_of(this->ctx(), of.view(), r, c));
    EXPECT_EQ(back.columns, full.columns);
    EXPECT_EQ(back.offsets, full.offsets);
  }
}

/// Rows of a node that end, begin and skip where others do not; some are empty, one is long.
TYPED_TEST(SparseBlocks, OfRowsThatDiffer) {
  using T = typename TestFixture::T;
  for (auto const& [r, c] :
       {std::pair<Index, Index>{2, 3}, {3, 3}, {4, 1}, {5, 6}, {8, 2}, {9, 4}, {16, 16}})
    for (Csr<double> const& a :
         {random_matrix(70 * r, 20 * c, 2, 9), mixed_rows(7 * r, 40 * c, 5),
          random_matrix(5 * r, 120 * c, 100, 4)}) {  // the last of hundreds of entries a node
      SCOPED_TRACE(cat(r, " x ", c, ", ", a.entries(), " entries"));
      Csr<T> wanted{a.rows / r, a.cols / c, {0}, {}, {}};
      for (Index I = 0; I < wanted.rows; ++I) {
        std::set<Index> met;
        for (Offset k = a.offsets[I * r]; k < a.offsets[(I + 1) * r]; ++k)
          met.insert(a.columns[k] / c);
        wanted.columns.insert(wanted.columns.end(), met.begin(), met.end());
        wanted.offsets.push_back(static_cast<Offset>(wanted.columns.size()));
      }
      CsrStorage<T> const A(this->ctx(), converted<T>(a));
      sparse::OwnedPattern const of = sparse::blocks_of(this->ctx(), A.view(), r, c);
      std::vector<T> const ones(static_cast<std::size_t>(of.entries), 1);
      There<T> there(this->ctx(), ones);
      Csr<T> const got = to_host(this->ctx(), of.with(static_cast<T const*>(there.data())));
      EXPECT_EQ(got.offsets, wanted.offsets);
      EXPECT_EQ(got.columns, wanted.columns);
      EXPECT_EQ(got.cols, wanted.cols);
    }
}

struct Case {
  std::string name;
  Csr<double> a, b;  // of blocks
  ProductBlocks blocks;
  Offset drop;
};
std::vector<Case> cases() {
  Csr<double> const grid = generate(Poisson27Params{.n = 5}), wide = random_matrix(125, 60, 4, 2);
  return {{"3 x 3 and 3 x 6", grid, wide, {3, 3, 6}, 0},
          {"3 x 3 and 3 x 6, four in five stored", grid, wide, {3, 3, 6}, 5},
          {"3 x 3 and 3 x 3", grid, wide, {3, 3, 3}, 4},
          {"6 x 3 and 3 x 6", random_matrix(60, 125, 8, 3), wide, {6, 3, 6}, 0},
          {"6 x 6 and 6 x 6", grid, wide, {6, 6, 6}, 7},
          {"1 x 1 and 1 x 2", grid, wide, {1, 1, 2}, 0},
          {"2 x 4 and 4 x 5", grid, wide, {2, 4, 5}, 3},
          {"long rows", mixed_rows(9, 700, 4), random_matrix(700, 900, 40, 6), {3, 3, 6}, 0},
          {"empty", random_matrix(20, 30, 0, 1), random_matrix(30, 20, 3, 1), {3, 3, 3}, 0}};
}

/// Every entry of the product of entries is there with its bits, and all others are 0.
template <class T>
void expect_holds(Csr<T> const& blocks, Csr<T> const& entries) {
  ASSERT_EQ(blocks.rows, entries.rows);
  ASSERT_EQ(blocks.cols, entries.cols);
  for (Index i = 0; i < entries.rows; ++i) {
    Offset at = entries.offsets[i];
    Offset const end = entries.offsets[i + 1];
    for (Offset k = blocks.offsets[i]; k < blocks.offsets[i + 1]; ++k) {
      bool const there = at < end && entries.columns[at] == blocks.columns[k];
      T const wanted = there ? entries.values[at++] : T(0), got = blocks.values[k];
      ASSERT_EQ(std::memcmp(&got, &wanted, sizeof(T)), 0)
          << "row " << i << ", column " << blocks.columns[k] << ": " << got << ", not " << wanted;
    }
    ASSERT_EQ(at, end) << "row " << i << " lacks entries";
  }
}

TYPED_TEST(SparseBlocks, ProductHasTheSumsOfEntries) {
  using T = typename TestFixture::T;
  for (Case const& c : cases())
    for (ProductLimits const& limits : {ProductLimits{}, ProductLimits{.sizes = 1},
                                        ProductLimits{.sizes = 0}, ProductLimits{.few = 0}}) {
      SCOPED_TRACE(cat(c.name, ", ", limits.sizes, " sizes, ", limits.few));
      Csr<T> a = by_entries<T>(c.a, c.blocks.rows, c.blocks.inner, c.drop, 11);
      Csr<T> b = by_entries<T>(c.b, c.blocks.inner, c.blocks.cols, 0, 12);
      CsrStorage<T> A(this->ctx(), Csr<T>(a)), B(this->ctx(), Csr<T>(b));
      sparse::Product const plan(this->ctx(), A.view(), B.view(), limits, c.blocks);
      EXPECT_EQ(plan.goes_by_blocks(), !a.columns.empty());
      There<T> C(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries),
                                             std::numeric_limits<T>::quiet_NaN()));
      for (std::uint64_t seed : {1, 2}) {  // twice: nothing is left from the first
        plan.values(this->ctx(), A.view(), B.view(), C.data());
        Csr<T> const got =
            to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(C.data())));
        expect_holds(got,
                     to_host(this->ctx(), sparse::product(this->ctx(), A.view(), B.view()).view()));
        auto const fresh = random_values(a.values.size(), seed);
        a.values.assign(fresh.begin(), fresh.end());
        A.update_values(this->ctx(), a.view());
      }
    }
}

/// P^T A P of a solid, whose clamped nodes have no full blocks.
TYPED_TEST(SparseBlocks, TripleProductHasTheSumsOfEntries) {
  using T = typename TestFixture::T;
  Csr<double> const solid = generate(ElasticityParams{.n = 5, .coefficient = Coefficient::random});
  Csr<T> const a{solid.rows,
                 solid.cols,
                 solid.offsets,
                 solid.columns,
                 {solid.values.begin(), solid.values.end()}};
  CsrStorage<T> const A(this->ctx(), Csr<T>(a));
  for (Index const coarse : {3, 6, 4}) {
    SCOPED_TRACE(coarse);
    CsrStorage<T> const P(this->ctx(),
                          by_entries<T>(random_matrix(125, 12, 3, 4), 3, coarse, 0, 7));
    sparse::TripleProduct const plan(this->ctx(), A.view(), P.view(), {}, 3, coarse);
    EXPECT_TRUE(plan.goes_by_blocks());
    There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
    There<T> pt(this->ctx(), std::vector<T>(static_cast<std::size_t>(P.view().entries)));
    plan.values(this->ctx(), A.view(), P.view(), c.data(), pt.data());
    expect_holds(
        to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(c.data()))),
        to_host(this->ctx(), sparse::triple_product(this->ctx(), A.view(), P.view()).view()));
    EXPECT_EQ(
        to_host(this->ctx(), plan.restriction().pattern().with(static_cast<T const*>(pt.data()))),
        to_host(this->ctx(), sparse::transposed(this->ctx(), P.view()).view()));
  }
}

/// Where each node has one block of P at most: the bits of the two products by blocks, without A P.
TYPED_TEST(SparseBlocks, AggregatesHaveTheBitsOfTwoProducts) {
  using T = typename TestFixture::T;
  struct Aggregated {
    std::string name;
    Csr<double> a, p;  // of nodes
    Offset drop;
  };
  Csr<double> const grid = generate(Poisson27Params{.n = 6});
  std::vector<Aggregated> const list{
      {"a grid", grid, random_matrix(216, 14, 1, 4), 0},
      {"four entries in five", grid, random_matrix(216, 14, 1, 5), 5},
      {"one aggregate", grid, random_matrix(216, 1, 1, 6), 0},
      {"rows beyond the memory of a group", mixed_rows(500, 500, 7), random_matrix(500, 480, 1, 8),
       0}};
  for (Aggregated const& m : list)
    for (std::pair<Index, Index> const& size :
         {std::pair<Index, Index>{3, 6}, {3, 3}, {6, 6}, {1, 2}, {2, 5}}) {
      Index const node = size.first, coarse = size.second;
      Csr<T> const a = by_entries<T>(m.a, node, node, m.drop, 11),
                   p = by_entries<T>(m.p, node, coarse, 0, 12);
      CsrStorage<T> const A(this->ctx(), Csr<T>(a)), P(this->ctx(), Csr<T>(p));
      auto const by = [&](ProductLimits const& limits, bool direct) {
        sparse::TripleProduct const plan(this->ctx(), A.view(), P.view(), limits, node, coarse);
        EXPECT_TRUE(plan.goes_by_blocks());
        EXPECT_EQ(plan.goes_by_aggregates(), direct);
        There<T> c(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries),
                                               std::numeric_limits<T>::quiet_NaN())),
            pt(this->ctx(), std::vector<T>(p.values.size()));
        plan.values(this->ctx(), A.view(), P.view(), c.data(), pt.data());
        EXPECT_EQ(pt.all(), transpose(p.view()).values);
        return to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(c.data())));
      };
      Csr<T> const wanted = by({.walked = 0}, false);
      for (ProductLimits const& limits :
           {ProductLimits{.walked = 1 << 20}, ProductLimits{.sizes = 0, .walked = 1 << 20},
            ProductLimits{.walked = 1 << 20, .few = 0, .places = false}}) {
        SCOPED_TRACE(cat(m.name, ", ", node, " x ", coarse, ", ", limits.sizes, " sizes"));
        EXPECT_EQ(by(limits, true), wanted);
      }
    }
}

/// Blocks of B that lack entries, or few entries in those of A, are not walked by blocks.
TYPED_TEST(SparseBlocks, OthersGoByEntries) {
  using T = typename TestFixture::T;
  Csr<double> const grid = generate(Poisson27Params{.n = 4});
  CsrStorage<T> const full(this->ctx(), by_entries<T>(grid, 3, 3, 0, 1)),
      lacking(this->ctx(), by_entries<T>(grid, 3, 3, 500, 1));
  Csr<T> diagonals = by_entries<T>(grid, 3, 3, 0, 1);
  Csr<T> third{diagonals.rows, diagonals.cols, {0}, {}, {}};
  for (Index i = 0; i < diagonals.rows; ++i) {
    for (Offset k = diagonals.offsets[i]; k < diagonals.offsets[i + 1]; ++k)
      if (diagonals.columns[k] % 3 == i % 3)
        third.columns.push_back(diagonals.columns[k]), third.values.push_back(diagonals.values[k]);
    third.offsets.push_back(third.entries());
  }
  CsrStorage<T> const sparse_blocks(this->ctx(), std::move(third));
  ProductBlocks const blocks{3, 3, 3};
  auto const by_blocks = [&](CsrStorage<T> const& a, CsrStorage<T> const& b) {
    return sparse::Product(this->ctx(), a.view(), b.view(), {}, blocks).goes_by_blocks();
  };
  EXPECT_TRUE(by_blocks(full, full));
  EXPECT_TRUE(by_blocks(lacking, full));
  EXPECT_FALSE(by_blocks(full, lacking));
  EXPECT_FALSE(by_blocks(sparse_blocks, full));
}

}  // namespace
}  // namespace tcsolve::test
