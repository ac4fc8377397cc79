// SPDX-License-Identifier: Apache-2.0
/// Passes over blocks of vectors against Eigen, at the sizes where a tile, a stretch or a grid
/// ends, and what counts as independent.
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/tsqr.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include <Eigen/Core>

#include "tests/support/backend.hpp"
#include "tests/support/dense.hpp"

namespace tcsolve::test {
namespace {

using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index rows[] = {0, 1, 5, 33, 1024, 5003};
constexpr std::pair<Index, Index> shapes[] = {{1, 1},   {3, 8},   {8, 3},  {9, 17},
                                              {16, 16}, {32, 33}, {64, 64}};

Block random_block(Index n, Index k, std::uint64_t seed) {
  Block x(n, k);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random_value(seed, i);
  return x;
}

class KernelsBlocks : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { open_context(GetParam(), ctx_); }
  Context& ctx() { return *ctx_; }
  There<double> there(Block const& x) {
    return {ctx(), std::vector<double>(x.data(), x.data() + x.size())};
  }
  Out<double> view(There<double>& v, Index n, Index k) {
    return {v.data(), n, k, k, Layout::row_major, ctx().space()};
  }
  static Block block(std::vector<double> const& v, Index n, Index k) {
    return Eigen::Map<Block const>(v.data(), n, k);
  }
  /// The columns of P that are not zero, as orthonormalise() makes them of W.
  Block orthonormal(Block const& W, double enough = OrthonormalBlock::fair) {
    auto const n = static_cast<Index>(W.rows()), w = static_cast<Index>(W.cols());
    auto from = there(W);
    There<double> P(ctx(), std::vector<double>(W.size(), 7.0)),
        small(ctx(), std::vector<double>(2 * w * w + 3));
    double* const T = small.data() + w * w;
    OrthonormalBlock const to{.T = T, .again = T + w * w, .rank = T + w * w + 2, .enough = enough};
    orthonormalise(ctx(), view(from, n, w), small.data(), to, view(P, n, w));
    return first_columns(P, n, w, small.all().back());
  }
  /// The same by Householder QR alone.
  Block householder(Block const& W, double drop) {
    auto const n = static_cast<Index>(W.rows()), w = static_cast<Index>(W.cols());
    auto from = there(W);
    There<double> P(ctx(), std::vector<double>(W.size(), 7.0)), rank(ctx(), 7.0);
    householder_basis(ctx(), view(from, n, w), drop, rank.data(), view(P, n, w), nullptr);
    return first_columns(P, n, w, rank.get());
  }
  Block first_columns(There<double>& P, Index n, Index w, double count) {
    auto const rank = static_cast<Index>(count);
    Block const all = block(P.all(), n, w);
    EXPECT_EQ(all.rightCols(w - rank), Block::Zero(n, w - rank));
    return all.leftCols(rank);
  }

 private:
  std::unique_ptr<Context> ctx_;
};
INSTANTIATE_TEST_SUITE_P(at, KernelsBlocks, ::testing::ValuesIn(backends()),
                         [](auto const& info) { return std::string(label(info.param)); });

TEST_P(KernelsBlocks, CombinesTwiceAsEachByItself) {
  for (Index n : rows)
    for (auto [p, q] : shapes) {
      SCOPED_TRACE(cat(n, ": ", p, " x ", q));
      auto x = there(random_block(n, p, 1)), c = there(random_block(p, q, 2)),
           d = there(random_block(p, q, 3));
      Block const S = random_block(n, q, 4), U = random_block(n, q, 5);
      auto y = there(S), v = there(U), alone = there(S), u = there(U), w = there(U);
      // Y in the place of S, V beside U.
      combine(ctx(), view(x, n, p), c.data(), y.data(), view(y, n, q), d.data(), u.data(),
              view(v, n, q));
      combine(ctx(), 1, view(x, n, p), c.data(), alone.data(), view(alone, n, q));
      combine(ctx(), 1, view(x, n, p), d.data(), u.data(), view(w, n, q));
      EXPECT_EQ(y.all(), alone.all());
      EXPECT_EQ(v.all(), w.all());
    }
}

TEST_P(KernelsBlocks, GramOfTwoIsTheGramOfEach) {
  for (Index n : rows)
    for (auto [p, q] : shapes) {
      SCOPED_TRACE(cat(n, ": ", p, " x ", q));
      auto x = there(random_block(n, p, 1)), y = there(random_block(n, q, 2)),
           z = there(random_block(n, q, 3));
      std::vector<double> const before(static_cast<std::size_t>(p) * q, 7.0);
      There<double> C(ctx(), before), D(ctx(), before), of_y(ctx(), before), of_z(ctx(), before);
      gram(ctx(), view(x, n, p), view(y, n, q), C.data(), view(z, n, q), D.data());
      gram(ctx(), view(x, n, p), view(y, n, q), of_y.data());
      gram(ctx(), view(x, n, p), view(z, n, q), of_z.data());
      EXPECT_EQ(C.all(), of_y.all());
      EXPECT_EQ(D.all(), of_z.all());
    }
  auto x = there(random_block(5, 2, 1)), z = there(random_block(5, 3, 1));
  There<double> C(ctx(), std::vector<double>(9)), D(ctx(), std::vector<double>(9));
  EXPECT_THROW(gram(ctx(), view(x, 5, 2), view(x, 5, 2), C.data(), view(z, 5, 3), D.data()),
               ShapeError);
}

TEST_P(KernelsBlocks, GramIsXtY) {
  for (Index n : rows)
    for (auto [p, q] : shapes) {
      SCOPED_TRACE(cat(n, ": ", p, " x ", q));
      Block const X = random_block(n, p, 1), Y = random_block(n, q, 2);
      auto x = there(X), y = there(Y);
      There<double> C(ctx(), std::vector<double>(p * q, 7.0));
      gram(ctx(), view(x, n, p), view(y, n, q), C.data());
      Block const first = block(C.all(), p, q);
      EXPECT_LE((first - X.transpose() * Y).cwiseAbs().maxCoeff(), 1e-15 * n);
      gram(ctx(), view(x, n, p), view(y, n, q), C.data());
      EXPECT_EQ(block(C.all(), p, q), first);
    }
}

TEST_P(KernelsBlocks, CombineIsSPlusXC) {
  for (Index n : rows)
    for (auto [p, q] : shapes) {
      SCOPED_TRACE(cat(n, ": ", p, " x ", q));
      Block const X = random_block(n, p, 3), C = random_block(p, q, 4), S = random_block(n, q, 5);
      auto x = there(X), c = there(C), s = there(S);
      There<double> y(ctx(), std::vector<double>(S.size(), NAN));
      combine(ctx(), 1, view(x, n, p), c.data(), nullptr, view(y, n, q));
      EXPECT_TRUE(block(y.all(), n, q).isApprox(X * C, 1e-14));
      combine(ctx(), -2, view(x, n, p), c.data(), s.data(), view(s, n, q));
      EXPECT_TRUE(block(s.all(), n, q).isApprox(S - 2 * X * C, 1e-14));
      if (p != q) continue;
      combine(ctx(), 1, view(x, n, p), c.data(), nullptr, view(x, n, p));  // in place
      EXPECT_EQ(x.all(), y.all());
    }
}

/// Of the blocks that exist, which the device counts.
TEST_P(KernelsBlocks, ABasisIsBlocksOneAfterTheOther) {
  constexpr Index most = 4;
  for (Index n : rows)
    for (Index w : {1, 5, 8, 16})
      for (Index count : {0, 1, 3, 4}) {
        SCOPED_TRACE(cat(n, " x ", w, ", ", count, " blocks"));
        Block const V = random_block(most * n, w, 1), Y = random_block(n, w, 2);
        Block const C = random_block(most * w, w, 3);
        auto v = there(V), y = there(Y), c = there(C);
        There<double> made(ctx(), std::vector<double>(C.size(), 7.0)), number(ctx(), double(count));
        BlockBasis<double> const basis{v.data(), most, std::int64_t{n} * w, number.data()};
        gram(ctx(), basis, w, view(y, n, w), made.data());
        combine(ctx(), -2, basis, w, c.data(), y.data(), view(y, n, w));
        Block sum = Y;
        Block const products = block(made.all(), most * w, w);
        for (Index b = 0; b < count; ++b) {
          Block const Vb = V.middleRows(b * n, n);
          EXPECT_LE((products.middleRows(b * w, w) - Vb.transpose() * Y).cwiseAbs().maxCoeff(),
                    1e-15 * n);
          sum -= 2 * Vb * C.middleRows(b * w, w);
        }
        EXPECT_LE((block(y.all(), n, w) - sum).norm(), 1e-14 * (1 + sum.norm()));
      }
}

/// FP32 vectors are FP64 ones from the load on: sums have the same bits, and results are those of
/// FP64, rounded.
TEST_P(KernelsBlocks, ABasisOfFloatsHasTheSumsOfItsNumbers) {
  constexpr Index most = 3;
  auto const floats = [](Block const& x) {
    return std::vector<float>(x.data(), x.data() + x.size());
  };
  auto const wide = [](std::vector<float> const& x) {
    return std::vector<double>(x.begin(), x.end());
  };
  for (Index n : rows)
    for (Index w : {1, 5, 8, 16})
      for (Index count : {0, 2, 3}) {
        SCOPED_TRACE(cat(n, " x ", w, ", ", count, " blocks"));
        std::vector<float> const V = floats(random_block(most * n, w, 1)),
                                 Y = floats(random_block(n, w, 2));
        auto c = there(random_block(most * w, w, 3));
        There<double> number(ctx(), double(count)), v(ctx(), wide(V)), y(ctx(), wide(Y));
        There<float> v32(ctx(), V), y32(ctx(), Y);
        Out<float> const y32_view{y32.data(), n, w, w, Layout::row_major, ctx().space()};
        std::vector<double> const before(static_cast<std::size_t>(most) * w * w, 7.0);
        There<double> products(ctx(), before), products32(ctx(), before);
        There<double> YY(ctx(), std::vector<double>(w * w)),
            YY32(ctx(), std::vector<double>(w * w));
        BlockBasis<double> const basis{v.data(), most, std::int64_t{n} * w, number.data()};
        BlockBasis<float> const basis32{v32.data(), most, std::int64_t{n} * w, number.data()};
        gram(ctx(), basis, w, view(y, n, w), products.data());
        gram(ctx(), basis32, w, y32_view, products32.data());
        EXPECT_EQ(products32.all(), products.all());
        gram(ctx(), view(y, n, w), view(y, n, w), YY.data());
        gram(ctx(), y32_view, y32_view, YY32.data());
        EXPECT_EQ(YY32.all(), YY.all());
        combine(ctx(), -2, basis, w, c.data(), y.data(), view(y, n, w));
        combine(ctx(), -2, basis32, w, c.data(), y32.data(), y32_view);
        std::vector<double> const exact = y.all();
        EXPECT_EQ(y32.all(), std::vector<float>(exact.begin(), exact.end()));
      }
}

TEST_P(KernelsBlocks, NothingHappensWhereItIsNotWanted) {
  There<double> no(ctx(), 0.0), x(ctx(), std::vector<double>{1, 2}), y(ctx(), 5.0);
  gram(ctx(), view(x, 2, 1), view(x, 2, 1), y.data(), no.data());
  combine(ctx(), 1, view(x, 2, 1), y.data(), nullptr, view(x, 2, 1), no.data());
  EXPECT_EQ(y.get(), 5);
  EXPECT_EQ(x.all(), (std::vector<double>{1, 2}));
}

TEST_P(KernelsBlocks, MoreThan64ColumnsAreRefused) {
  There<double> x(ctx(), std::vector<double>(65));
  EXPECT_THROW(gram(ctx(), view(x, 1, 65), view(x, 1, 65), x.data()), Unsupported);
  There<float> y(ctx(), std::vector<float>(17));
  Out<float> const floats{y.data(), 1, 17, 17, Layout::row_major, ctx().space()};
  EXPECT_THROW(gram(ctx(), floats, floats, x.data()), Unsupported);
}

TEST_P(KernelsBlocks, OrthonormalColumnsSpanTheBlock) {
  for (Index w : {1, 7, 16, 64}) {
    SCOPED_TRACE(w);
    Block W = random_block(500, w, 6);
    for (Index j = 0; j < w; ++j) W.col(j) *= std::pow(10.0, (j * 5) % 13 - 6);  // any lengths
    Block const P = orthonormal(W);
    ASSERT_EQ(P.cols(), w);
    EXPECT_LE((P.transpose() * P - Block::Identity(w, w)).norm(), 1e-9);
    Block const rest = W - P * (P.transpose() * W);
    for (Index j = 0; j < w; ++j) EXPECT_LE(rest.col(j).norm(), 1e-9 * W.col(j).norm());
  }
}

TEST_P(KernelsBlocks, DependentColumnsAreLeftOut) {
  Block W = random_block(300, 6, 7);
  W.col(1) = W.col(0);                          // equal
  W.col(2).setZero();                           // zero
  W.col(4) = 1e12 * (W.col(0) - 3 * W.col(3));  // dependent, of another size
  EXPECT_EQ(orthonormal(W).cols(), 3);
  // One Gram matrix alone sees nothing below 1e-8.
  W.col(1) += 1e-8 * random_block(300, 1, 8);
  Block const P = orthonormal(W);
  EXPECT_EQ(P.cols(), 4);
  EXPECT_LE((P.transpose() * P - Block::Identity(4, 4)).norm(), 1e-7);
  EXPECT_EQ(orthonormal(Block::Zero(10, 3)).cols(), 0);
}

/// n x w with singular values from 1 down to 10^-exponent.
Block conditioned(Index n, Index w, double exponent) {
  Block const U = orthogonal(random_block(n, w, 11));
  Block const V = orthogonal(random_block(w, w, 12));
  Eigen::VectorXd d(w);
  for (Index j = 0; j < w; ++j) d[j] = std::pow(10.0, -exponent * j / std::max(w - 1, 1));
  return U * d.asDiagonal() * V.transpose();
}

void expect_orthonormal(Block const& P) {
  EXPECT_LE((P.transpose() * P - Block::Identity(P.cols(), P.cols())).cwiseAbs().maxCoeff(), 1e-14);
}

TEST_P(KernelsBlocks, ColumnsAreOrthonormalToRoundingWhateverTheCondition) {
  for (Index w : {1, 2, 8, 17, 64})
    for (Index n : {w, 5003})
      for (double exponent : {0.0, 3.0, 6.0, 8.0, 10.0, 13.0, 16.0, 30.0}) {
        SCOPED_TRACE(cat(n, " x ", w, ", 1e", exponent));
        Block const W = conditioned(n, w, exponent);
        for (Block const& P : {orthonormal(W, OrthonormalBlock::full), householder(W, 1e-10)}) {
          expect_orthonormal(P);
          ASSERT_GT(P.cols(), 0);
          Block const rest = W - P * (P.transpose() * W);
          for (Index j = 0; j < w; ++j) EXPECT_LE(rest.col(j).norm(), 1e-8 * W.col(j).norm());
        }
      }
}

TEST_P(KernelsBlocks, HouseholderTellsDependentColumns) {
  for (Index n : {6, 7, 40, 5003}) {
    SCOPED_TRACE(n);
    Block W = random_block(n, 6, 7);
    W.col(1) = W.col(0);
    W.col(2).setZero();
    W.col(4) = 1e12 * (W.col(0) - 3 * W.col(3));
    EXPECT_EQ(householder(W, 1e-12).cols(), 3);
    W.col(1) += 1e-8 * random_block(n, 1, 8);
    Block const P = householder(W, 1e-12);
    EXPECT_EQ(P.cols(), 4);
    expect_orthonormal(P);
    EXPECT_EQ(P, householder(W, 1e-12));
  }
  EXPECT_EQ(householder(random_block(3, 8, 9), 1e-12).cols(), 3);  // more columns than rows
  EXPECT_EQ(householder(Block::Zero(10, 3), 1e-12).cols(), 0);
}

TEST(SmallMatrix, CholeskySolvesAndNamesThePivotThatIsNone) {
  Index const r = 5, w = 7;
  Block const F = random_block(r, r, 9), A = F * F.transpose() + Block::Identity(r, r);
  Block G = Block::Zero(w, w), B = random_block(w, w, 10);
  G.topLeftCorner(r, r) = A;
  Block const expected = lu_solve(A, B.topRows(r));
  EXPECT_EQ(factor_cholesky({}, r, G.data(), w).rows, r);
  solve_cholesky({}, r, G.data(), w, B.data(), w);
  EXPECT_TRUE(B.topRows(r).isApprox(expected, 1e-12));
  G.topLeftCorner(r, r) = A;
  G(3, 3) = -50;
  SmallFactor const failed = factor_cholesky({}, r, G.data(), w);
  EXPECT_EQ(failed.rows, 3);
  EXPECT_LT(failed.pivot, -50);
}

}  // namespace
}  // namespace tcsolve::test
