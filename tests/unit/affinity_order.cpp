// SPDX-License-Identifier: Apache-2.0
/// The data-affinity order: a permutation of every pattern, the same on every run, that brings rows
/// with the same columns together.
#include <tcsolve/graph/reorder/affinity.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/renumber.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

Csr<double> shuffled(Csr<double> const& a) {
  return permuted(a.view(), random_permutation(a.rows, 5));
}
double entries_a_block(Csr<double> const& a) {
  return double(a.entries()) / double(condensed_blocks(a));
}

TEST(CondensedBlocks, CountsDistinctColumnsOfEightRows) {
  // Eight rows with columns 0 to 8, and one with column 3.
  Csr<double> a{9, 20, {0}, {}, {}};
  for (Index i = 0; i < 8; ++i) {
    for (Index const j : {i, i + 1}) a.columns.push_back(j), a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  a.columns.push_back(3), a.values.push_back(1);
  a.offsets.push_back(a.entries());
  EXPECT_EQ(condensed_blocks(a), 2 + 1);
  EXPECT_EQ(condensed_blocks(Csr<double>{3, 0, {0, 0, 0, 0}, {}, {}}), 0);
  EXPECT_EQ(condensed_blocks(Csr<double>{}), 0);
}

TEST(AffinityOrder, OrdersEveryPattern) {
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    if (m.matrix.rows != m.matrix.cols) {
      EXPECT_THROW(affinity_order(Pattern(m.matrix)), ShapeError);
      continue;
    }
    Permutation const P = affinity_order(Pattern(m.matrix));  // which checks that it is one
    EXPECT_EQ(P.size(), m.matrix.rows);
    EXPECT_EQ(P, affinity_order(Pattern(m.matrix))) << "the same order on every run";
  }
}

/// Rows i and i + 8 k have the same columns, whatever k: each such class is a window.
TEST(AffinityOrder, PutsEqualRowsIntoOneWindow) {
  constexpr Index n = 64;
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = i % 8; j < n; j += 8) a.columns.push_back(j), a.values.push_back(1);
    a.offsets.push_back(a.entries());
  }
  EXPECT_EQ(condensed_blocks(a), 8 * 8);
  Permutation const P = affinity_order(Pattern(a));
  for (Index i = 0; i < n; ++i)
    EXPECT_EQ(P.old_numbers()[i] % 8, P.old_numbers()[i / 8 * 8] % 8) << "row " << i;
  EXPECT_EQ(condensed_blocks(permuted(a.view(), P)), 8);
}

/// At least 1.1 times the entries a block of the shuffled matrix, as they were for these: 2.6, 4.4,
/// 1.6 and 1.2 times; and those of the matrix as it was generated.
TEST(AffinityOrder, FillsTheBlocksOfShuffledMatrices) {
  struct Case {
    char const* name;
    Csr<double> a;
    double times;  ///< than shuffled
  };
  for (auto const& [name, a, times] : {Case{"poisson27", generate(Poisson27Params{.n = 24}), 2.3},
                                       Case{"elasticity", generate(ElasticityParams{.n = 12}), 3.5},
                                       Case{"poisson7", generate(Poisson7Params{.n = 24}), 1.4},
                                       Case{"rmat", generate(RmatParams{.scale = 13}), 1.1}}) {
    SCOPED_TRACE(name);
    Csr<double> const given = shuffled(a);
    Reordering const order = reordering(given, Reorder::affinity);
    EXPECT_EQ(order.taken, Reorder::affinity);
    EXPECT_EQ(order.P, affinity_order(Pattern(given)));
    double const found = entries_a_block(permuted(given.view(), order.P));
    EXPECT_GE(found, times * entries_a_block(given));
    EXPECT_GE(found, entries_a_block(a));
  }
}

template <class P>
class AffinityOnBoth : public BackendTest<P> {};
TYPED_TEST_SUITE(AffinityOnBoth, DoubleOnBoth, Label);

TYPED_TEST(AffinityOnBoth, MovesTheMatrixWhereItLies) {
  Csr<double> const a = shuffled(generate(Poisson27Params{.n = 8}));
  CsrStorage<double> const there(this->ctx(), a.view());
  std::shared_ptr<CsrStorage<double>> moved;
  Reordering const order = reordering(this->ctx(), there.view(), Reorder::affinity, moved);
  EXPECT_EQ(order.P, affinity_order(Pattern(a)));
  EXPECT_EQ(to_host(this->ctx(), moved->view()), permuted(a.view(), order.P));
}

}  // namespace
}  // namespace tcsolve::test
