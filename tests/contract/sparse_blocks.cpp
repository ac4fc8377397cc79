// SPDX-License-Identifier: Apache-2.0
/// The building blocks of sparse/ against Eigen: A^T, A B, P^T A P, sums and diagonals of rows, and
/// independent sets by the pattern of A A. Bits are the unit tests' (tests/unit/sparse).
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/independent_set.hpp>
#include <tcsolve/sparse/rows.hpp>
#include <tcsolve/sparse/transpose.hpp>
#include <tcsolve/sparse/triple_product.hpp>

#include <gmock/gmock.h>

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;

Sparse eigen(Csr<double> const& a) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      entries.emplace_back(i, a.columns[k], a.values[k]);
  Sparse s(a.rows, a.cols);
  s.setFromTriplets(entries.begin(), entries.end());
  return s;
}

/// |got - wanted| <= 1e-14 sizes, entry by entry: `sizes` is the result with |a_ij| for a_ij.
void expect_near(Csr<double> const& got, Sparse const& wanted, Sparse const& sizes) {
  ASSERT_EQ(got.rows, wanted.rows());
  ASSERT_EQ(got.cols, wanted.cols());
  Sparse const off = (eigen(got) - wanted).cwiseAbs() - 1e-14 * sizes;
  for (Index i = 0; i < off.outerSize(); ++i)
    for (Sparse::InnerIterator e(off, i); e; ++e) ASSERT_LE(e.value(), 0) << i << ", " << e.col();
}

/// Empty rows, long ones, hubs and grids; nothing but finite numbers.
std::vector<Named> matrices() {
  std::vector<Named> list;
  for (Named const& m : adversarial())
    if (std::ranges::all_of(m.matrix.values, [](double v) { return std::abs(v) < 1e100; }))
      list.push_back(m);
  list.push_back({"rows of all lengths", mixed_rows(300, 4000, 5)});
  list.push_back({"hubs", generate(RmatParams{10, 8, Coefficient::random})});
  list.push_back({"27-point", generate(Poisson27Params{9, Coefficient::random})});
  list.push_back({"elasticity", generate(ElasticityParams{6, Coefficient::random})});
  return list;
}

template <class P>
class SparseBlocks : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseBlocks, DoubleOnBoth, Label);

TYPED_TEST(SparseBlocks, TransposesAndProductsAreEigens) {
  Context& ctx = this->ctx();
  for (auto const& [name, a] : matrices()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const A(ctx, a.view()), At = sparse::transposed(ctx, A.view());
    Sparse const e = eigen(a), et = e.transpose(), sizes = e.cwiseAbs();
    Csr<double> const t = to_host(ctx, At.view());
    EXPECT_EQ((eigen(t) - et).norm(), 0);
    EXPECT_EQ(t.entries(), a.entries());
    expect_near(to_host(ctx, sparse::product(ctx, A.view(), At.view()).view()), e * et,
                sizes * Sparse(sizes.transpose()));
    if (a.rows != a.cols) continue;
    Csr<double> const p = random_matrix(a.rows, a.rows / 3 + 1, 4, 11);
    CsrStorage<double> const P(ctx, p.view());
    Sparse const q = eigen(p), qs = q.cwiseAbs();
    expect_near(to_host(ctx, sparse::triple_product(ctx, A.view(), P.view()).view()),
                Sparse(q.transpose()) * Sparse(e * q), Sparse(qs.transpose()) * Sparse(sizes * qs));
  }
}

/// P with one entry a row at most: rows in no aggregate, aggregates without rows, one for all rows,
/// and as many as rows.
TYPED_TEST(SparseBlocks, ProductsWithAggregatesAreEigens) {
  Context& ctx = this->ctx();
  for (auto const& [name, a] : matrices()) {
    if (a.rows != a.cols) continue;
    CsrStorage<double> const A(ctx, a.view());
    Sparse const e = eigen(a), sizes = e.cwiseAbs();
    for (Index const aggregates : {1, 1 + a.rows / 7, a.rows}) {
      SCOPED_TRACE(cat(name, ", ", aggregates, " aggregates"));
      Csr<double> const p = random_matrix(a.rows, aggregates, 1, 11);
      CsrStorage<double> const P(ctx, p.view());
      Sparse const q = eigen(p), qs = q.cwiseAbs();
      expect_near(to_host(ctx, sparse::triple_product(ctx, A.view(), P.view()).view()),
                  Sparse(q.transpose()) * Sparse(e * q),
                  Sparse(qs.transpose()) * Sparse(sizes * qs));
    }
  }
}

TYPED_TEST(SparseBlocks, SumsAndDiagonalsOfRowsAreEigens) {
  Context& ctx = this->ctx();
  for (auto const& [name, a] : matrices()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const A(ctx, a.view());
    Sparse const e = eigen(a);
    Eigen::VectorXd const ones = Eigen::VectorXd::Ones(a.cols), sums = e * ones,
                          sizes = e.cwiseAbs() * ones;
    auto const of = [&, rows = a.rows](auto const& f) {
      There<double> y(ctx, std::vector<double>(std::size_t(rows), NAN));
      f(y.view());
      return y.all();
    };
    auto const sum = of([&](Out<double> y) { sparse::row_sums<double>(ctx, A.view(), y); }),
               size =
                   of([&](Out<double> y) { sparse::absolute_row_sums<double>(ctx, A.view(), y); });
    for (Index i = 0; i < a.rows; ++i) {
      ASSERT_NEAR(sum[i], sums[i], 1e-14 * sizes[i]) << i;
      ASSERT_NEAR(size[i], sizes[i], 1e-14 * sizes[i]) << i;
    }
    if (a.rows != a.cols) continue;
    auto const d = of([&](Out<double> y) { sparse::diagonal<double>(ctx, A.view(), y); });
    for (Index i = 0; i < a.rows; ++i) ASSERT_EQ(d[i], e.coeff(i, i)) << i;
  }
}

/// With G the graph of A + A^T: no two members are neighbours in G G, every other vertex has one.
TYPED_TEST(SparseBlocks, IndependentSetsAreIndependentAndMaximal) {
  Context& ctx = this->ctx();
  for (auto const& [name, a] : matrices()) {
    if (a.rows != a.cols) continue;
    CsrStorage<double> const A(ctx, a.view());
    Csr<double> unit = a;
    for (double& v : unit.values) v = 1;
    Sparse one(a.rows, a.rows);
    one.setIdentity();
    Sparse const e = eigen(unit), g = one + e + Sparse(e.transpose());
    for (int const distance : {1, 2}) {
      SCOPED_TRACE(cat(name, ", distance ", distance));
      Sparse const near = distance == 1 ? g : Sparse(g * g);
      std::vector<Index> const member =
          to_host(ctx, sparse::independent_set(ctx, A.view(), distance).numbers);
      for (Index i = 0; i < a.rows; ++i) {
        Index members = 0;
        for (Sparse::InnerIterator k(near, i); k; ++k) members += member[k.col()] >= 0;
        if (member[i] >= 0)
          ASSERT_EQ(members, 1) << "vertex " << i << " itself alone";
        else
          ASSERT_GE(members, 1) << "vertex " << i << " could join";
      }
    }
  }
}

/// A row of a product beyond what 32 bits number, told by the rows of B alone: B has no columns.
TEST(SparseBlocksLimit, ARowOf2To31ProductsIsRefusedByName) {
  Context ctx(Backend::host);
  constexpr Index half = 1 << 30;
  Csr<double> const a{2, 2, {0, 0, 2}, {0, 1}, {1, 1}};
  CsrStorage<double> const A(ctx, a.view());
  std::vector<Offset> const offsets{0, half, Offset{2} * half};
  Array<Offset> const there = to_space(ctx, offsets.data(), offsets.size());
  CsrView<double> const B{2, half, Offset{2} * half, there.data(), nullptr, nullptr, ctx.space()};
  std::string const text = message_of<SizeError>(
      [&] { sparse::Product const plan(ctx, A.view(), B, {.sizes = 0, .places = false}); });
  EXPECT_THAT(text, HasSubstr("row 2 of a product of sparse matrices sums 2147483648 products"));
}

}  // namespace
}  // namespace tcsolve::test
