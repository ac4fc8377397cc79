// SPDX-License-Identifier: Apache-2.0
/// Jacobi and block Jacobi against dense Eigen inverses, and what they say of a singular diagonal.
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Csr<double> diagonal(std::vector<double> const& values) {
  Csr<double> a;
  a.rows = a.cols = static_cast<Index>(values.size());
  for (Index i = 0; i < a.rows; ++i) {
    a.columns.push_back(i);
    a.values.push_back(values[i]);
    a.offsets.push_back(i + 1);
  }
  return a;
}

Dense dense(Csr<double> const& a) {
  Dense d = Dense::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

/// The inverse of each diagonal block of a; the rest is zero.
Dense block_inverse(Csr<double> const& a, std::vector<Index> const& starts) {
  Dense A = dense(a), inverse = Dense::Zero(a.rows, a.rows);
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    Index first = starts[b], n = starts[b + 1] - first;
    inverse.block(first, first, n, n) = inverse_of(A.block(first, first, n, n));
  }
  return inverse;
}

/// M x for blocks, layouts, alpha, beta and both ops, against the dense M within `tolerance`
/// |M||x|.
template <class T>
void matches(Context& ctx, LinearOperator<T> const& M, Dense const& exact, double tolerance) {
  Index n = M.rows();
  for (Op op : {Op::none, Op::transpose})
    for (Index k : {1, 3, 8})
      for (Layout layout : {Layout::row_major, Layout::col_major})
        for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-0.75, 1.25}, {2.0, 0.0}}) {
          SCOPED_TRACE(cat("op ", int(op), ", k ", k, ", layout ", int(layout), ", beta ", beta));
          auto x = rounded<T>(random_values(n * k, 1)), y0 = rounded<T>(random_values(n * k, 2));
          if (beta == 0) y0.assign(y0.size(), nan);
          Guarded<T> gx(ctx, n, k, layout, 3, x), y(ctx, n, k, layout, 3, y0);
          M.apply(ctx, T(alpha), gx.in(), T(beta), y.view(), op);
          Dense E = op == Op::none ? exact : Dense(exact.transpose());
          Dense X = Eigen::Map<Dense>(x.data(), n, k);
          Dense e = alpha * E * X, m = std::abs(alpha) * E.cwiseAbs() * X.cwiseAbs();
          Dense before = Eigen::Map<Dense>(y0.data(), n, k);
          if (beta != 0) e += beta * before, m += std::abs(beta) * before.cwiseAbs();
          auto got = y.get();
          for (Index i = 0; i < n * k; ++i)
            ASSERT_NEAR(got[i], e(i / k, i % k), tolerance * m(i / k, i % k)) << "row " << i / k;
          EXPECT_TRUE(y.untouched());
          EXPECT_TRUE(gx.unchanged());
        }
}

template <class P>
class PrecondJacobi : public BackendTest<P> {
 public:
  using T = typename P::Value;
  static constexpr double u = roundoff(real_of<T>);
  std::shared_ptr<Jacobi<T>> jacobi(Csr<double> const& a) {
    CsrStorage<double> there(this->ctx(), a);
    return std::make_shared<Jacobi<T>>(this->ctx(), there.view());
  }
  std::string refusal(Csr<double> const& a) {
    return message_of<SetupError>([&] { jacobi(a); });
  }
};
TYPED_TEST_SUITE(PrecondJacobi, RealsOnBoth, Label);

void expect_words(std::string const& text, std::vector<std::string> const& words) {
  for (auto const& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << text << " lacks " << word;
}

TYPED_TEST(PrecondJacobi, IsTheInverseOfTheDiagonal) {
  for (Index n : {1, 31, 257}) {
    Csr<double> a = dominant(n, 5, 1);
    std::vector<Index> single = uniform_blocks(n, 1);
    matches(this->ctx(), *this->jacobi(a), block_inverse(a, single), 4 * this->u);
  }
}

TYPED_TEST(PrecondJacobi, TakesMatricesOfAnyPrecision) {
  using T = typename TestFixture::T;
  Csr<double> a = dominant(50, 5, 2);
  CsrStorage<float> f(this->ctx(), converted<float>(a));
  matches(this->ctx(), Jacobi<T>(this->ctx(), f.view()),
          block_inverse(rounded<float>(a), uniform_blocks(50, 1)), 4 * this->u);
  CsrStorage<half> h(this->ctx(), converted<half>(a));
  matches(this->ctx(), Jacobi<T>(this->ctx(), h.view()),
          block_inverse(rounded<half>(a), uniform_blocks(50, 1)), 4 * this->u);
  CsrStorage<bfloat16> b(this->ctx(), converted<bfloat16>(a));
  matches(this->ctx(), Jacobi<T>(this->ctx(), b.view()),
          block_inverse(rounded<bfloat16>(a), uniform_blocks(50, 1)), 4 * this->u);
}

TYPED_TEST(PrecondJacobi, FusedInnerProduct) {
  using T = typename TestFixture::T;
  for (Index n : {0, 1, 4097}) {
    Csr<double> a = dominant(n, 3, 3);
    auto M = this->jacobi(a);
    auto r = rounded<T>(random_values(n, 4));
    Guarded<T> gr(this->ctx(), r), z(this->ctx(), std::vector<double>(n, nan)),
        again(this->ctx(), z.get());
    There<double> rho(this->ctx(), nan);
    M->apply_dot(this->ctx(), gr.in(), z.view(), rho.data());
    M->apply(this->ctx(), gr.in(), again.view());
    EXPECT_EQ(z.get(), again.get());
    auto got = z.get();
    long double exact = 0, magnitude = 0;
    for (Index i = 0; i < n; ++i)
      exact += static_cast<long double>(r[i]) * got[i], magnitude += std::abs(r[i] * got[i]);
    // The fused form may sum before z is rounded to T.
    EXPECT_LE(std::abs(rho.get() - exact),
              sum_bound(n, magnitude) + 1.01 * this->u * double(magnitude));
    EXPECT_TRUE(z.untouched());
  }
}

TYPED_TEST(PrecondJacobi, NamesTheRowWithoutADiagonal) {
  std::vector<double> values(5000, 2.0);
  values[4321] = 0;
  expect_words(this->refusal(diagonal(values)),
               {"jacobi", "row 4322", "zero or absent", "1 such row"});
  values[17] = -0.0;
  expect_words(this->refusal(diagonal(values)), {"row 18", "zero or absent", "2 such rows"});
  expect_words(this->refusal({3, 3, {0, 1, 2, 3}, {0, 0, 2}, {1, 1, 1}}),
               {"row 2", "zero or absent"});
  expect_words(this->refusal({2, 2, {0, 1, 1}, {0}, {1}}), {"row 2", "zero or absent"});
}

TYPED_TEST(PrecondJacobi, NamesTheRowWhoseInverseIsOutOfRange) {
  for (double d : {inf, -inf, nan, 1e-310}) {
    SCOPED_TRACE(d);
    expect_words(this->refusal(diagonal({1, 1, d})), {"row 3", "out of range"});
  }
  if (sizeof(typename TestFixture::T) == 4)
    for (double d : {1e-39, 1e300, -1e60})  // the inverse is infinite, or zero, as a float
      expect_words(this->refusal(diagonal({1, d, 1})), {"row 2", "out of range"});
}

TYPED_TEST(PrecondJacobi, RefusesRectangularMatrices) {
  expect_words(message_of<ShapeError>([&] { this->jacobi(random_matrix(3, 4, 2, 1)); }),
               {"jacobi", "3 x 4"});
}

template <class P>
class PrecondBlockJacobi : public BackendTest<P> {
 public:
  using T = typename P::Value;
  static constexpr double u = roundoff(real_of<T>);
  BlockJacobi<T> make(Csr<double> const& a, BlockJacobiParams params = {}) {
    return {this->ctx(), a.view(), params};
  }
};
TYPED_TEST_SUITE(PrecondBlockJacobi, RealsOnBoth, Label);

TYPED_TEST(PrecondBlockJacobi, UniformBlocksAreInverted) {
  for (Index n : {1, 7, 64, 130})
    for (int block : {1, 2, 3, 16, 130}) {
      SCOPED_TRACE(cat(n, " rows, blocks of ", block));
      Csr<double> a = dominant(n, 9, 5);
      auto M = this->make(a, {.block = block});
      EXPECT_EQ(M.blocks(), uniform_blocks(n, block));
      matches(this->ctx(), M, block_inverse(a, M.blocks()), 200 * 0x1p-53 * block + 4 * this->u);
    }
}

/// Groups of 3, 1, 2, 5, ... rows with the same columns, as the unknowns of a node have.
Csr<double> grouped(std::vector<Index> const& sizes, std::vector<Index>& starts) {
  starts = {0};
  for (Index s : sizes) starts.push_back(starts.back() + s);
  Csr<double> a;
  a.rows = a.cols = starts.back();
  auto noise = random_values(100000, 9);
  for (std::size_t g = 0; g < sizes.size(); ++g)
    for (Index i = starts[g]; i < starts[g + 1]; ++i) {
      for (std::size_t h = g; h <= std::min(g + 1, sizes.size() - 1); ++h)
        for (Index j = starts[h]; j < starts[h + 1]; ++j) {
          a.columns.push_back(j);
          a.values.push_back(i == j ? 20 : noise[a.columns.size()]);
        }
      a.offsets.push_back(a.entries());
    }
  return a;
}

TYPED_TEST(PrecondBlockJacobi, BlocksAreFoundByEqualPatterns) {
  std::vector<Index> starts;
  Csr<double> a = grouped({3, 3, 1, 2, 5, 3, 4, 3, 3}, starts);
  auto M = this->make(a);
  EXPECT_EQ(M.blocks(), starts);
  matches(this->ctx(), M, block_inverse(a, starts), 2000 * 0x1p-53 + 4 * this->u);
  auto small = this->make(a, {.max_block = 2});
  for (std::size_t b = 0; b + 1 < small.blocks().size(); ++b)
    EXPECT_LE(small.blocks()[b + 1] - small.blocks()[b], 2);
  EXPECT_EQ(small.blocks().back(), a.rows);
  matches(this->ctx(), small, block_inverse(a, small.blocks()), 2000 * 0x1p-53 + 4 * this->u);
}

TYPED_TEST(PrecondBlockJacobi, SinglesAreGroupedWithTheirNeighbours) {
  Csr<double> a = dominant(100, 7, 6);
  auto M = this->make(a);
  EXPECT_EQ(M.blocks(), uniform_blocks(100, 8));
  matches(this->ctx(), M, block_inverse(a, M.blocks()), 2000 * 0x1p-53 + 4 * this->u);
  EXPECT_EQ(this->make(a, {.max_block = 4}).blocks(), uniform_blocks(100, 4));
}

TYPED_TEST(PrecondBlockJacobi, NothingIsNoBlock) {
  auto M = this->make(Csr<double>{});
  EXPECT_EQ(M.blocks(), std::vector<Index>{0});
  matches(this->ctx(), M, Dense(0, 0), 0);
}

TYPED_TEST(PrecondBlockJacobi, PivotsWhereTheDiagonalIsZero) {
  Csr<double> a{4, 4, {0, 1, 2, 4, 6}, {1, 0, 2, 3, 2, 3}, {2, 4, 0, 1, 1, 1}};
  auto M = this->make(a, {.block = 2});
  matches(this->ctx(), M, block_inverse(a, {0, 2, 4}), 4 * this->u);
}

TYPED_TEST(PrecondBlockJacobi, NamesTheSingularBlock) {
  Csr<double> a = dominant(12, 3, 7);
  for (Offset k = a.offsets[7]; k < a.offsets[8]; ++k) a.values[k] = 0;  // row 7
  expect_words(message_of<SetupError>([&] { this->make(a, {.block = 4}); }),
               {"block_jacobi", "rows 5 to 8", "singular"});
  // Two equal rows; a block of zeros; a block without entries; NaN.
  Csr<double> equal{3, 3, {0, 1, 3, 5}, {0, 1, 2, 1, 2}, {1, 3, 7, 3, 7}};
  expect_words(message_of<SetupError>([&] { this->make(equal, {.block = 3}); }),
               {"rows 1 to 3", "singular"});
  EXPECT_THROW(this->make({2, 2, {0, 0, 0}, {}, {}}, {.block = 2}), SetupError);
  EXPECT_THROW(this->make({2, 2, {0, 1, 2}, {0, 1}, {0, 0}}, {.block = 1}), SetupError);
  EXPECT_THROW(this->make(diagonal({1, nan}), {.block = 2}), SetupError);
}

TYPED_TEST(PrecondBlockJacobi,
           BadlyScaledIsNotSingular) {  // unknowns of different units in one node
  Csr<double> a = diagonal({1e12, 1e-12, 1, 1e-9});
  matches(this->ctx(), this->make(a, {.block = 4}), block_inverse(a, uniform_blocks(4, 1)),
          4 * this->u);
  // D S D with S = [2 1; 1 2] and D = diag(1, 1e-10).
  Csr<double> b{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1e-10, 1e-10, 2e-20}};
  Dense inverse(2, 2);
  inverse << 2.0 / 3, -1e10 / 3, -1e10 / 3, 2e20 / 3;
  matches(this->ctx(), this->make(b, {.block = 2}), inverse, 100 * 0x1p-53 + 4 * this->u);
}

TYPED_TEST(PrecondBlockJacobi, RefusesInversesBeyondTheRangeOfTheVectors) {
  if (sizeof(typename TestFixture::T) != 4) return;
  expect_words(message_of<SetupError>([&] {
                 this->make(diagonal({1, 1e-40}), {.block = 1});
               }),
               {"rows 2 to 2"});
}

TYPED_TEST(PrecondBlockJacobi, RefusesRectangularMatrices) {
  expect_words(message_of<ShapeError>([&] { this->make(random_matrix(3, 4, 2, 1)); }),
               {"block_jacobi", "3 x 4"});
}

template <class P>
class PrecondFactories : public BackendTest<P> {};
TYPED_TEST_SUITE(PrecondFactories, DoubleOnBoth, Label);

TYPED_TEST(PrecondFactories, BuildFromAMatrixInTheContextsSpace) {
  Csr<double> a = dominant(40, 5, 8);
  CsrStorage<double> there(this->ctx(), a);
  System system{there.view(), nullptr};
  auto jacobi = JacobiFactory().build(this->ctx(), system)->view();
  EXPECT_EQ(jacobi->name(), "jacobi");
  matches(this->ctx(), *jacobi, block_inverse(a, uniform_blocks(40, 1)), 1e-15);
  auto blocks = BlockJacobiFactory({.block = 4}).build(this->ctx(), system)->view();
  EXPECT_EQ(blocks->name(), "block_jacobi");
  matches(this->ctx(), *blocks, block_inverse(a, uniform_blocks(40, 4)), 1e-13);
}

}  // namespace
}  // namespace tcsolve::test
