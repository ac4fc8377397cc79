// SPDX-License-Identifier: Apache-2.0
/// bitBSR inside: there and back, the same arrays from host and device, the side entries, long rows
/// in pieces, scaling. What it computes is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/transfer.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/operators/spaden_operator.hpp>

#include <bit>
#include <cmath>

#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SpadenContract : public BackendTest<P> {};
TYPED_TEST_SUITE(SpadenContract, StoredOnBoth, Label);

constexpr SpadenTuning tunings[] = {{},
                                    {.side = 0},
                                    {.side = 64},
                                    {.side = 8, .long_row = 5, .piece = 2},
                                    {.long_row = 1, .piece = 1}};

TYPED_TEST(SpadenContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (SpadenTuning const& tuning : tunings) {
      Spaden<T> spaden(this->ctx(), there.view(), tuning);
      ASSERT_EQ(spaden.to_csr(this->ctx()), a) << tuning.side << " " << tuning.long_row;
    }
  }
}

TYPED_TEST(SpadenContract, HostAndDeviceMakeTheSameArrays) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (SpadenTuning const& tuning : tunings) {
      Spaden<T> spaden(this->ctx(), there.view(), tuning), expected(host, a.view(), tuning);
      SpadenArrays<T> const &x = spaden.arrays(), &y = expected.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.start, y.start));
      ASSERT_TRUE(same_bits(this->ctx(), x.blocks, y.blocks));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_start, y.side_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_values, y.side_values));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_columns, y.side_columns));
      ASSERT_TRUE(same_bits(this->ctx(), x.piece_start, y.piece_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.side_piece_start, y.side_piece_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.piece, y.piece));
    }
  }
}

TYPED_TEST(SpadenContract, BlocksAreThoseOfThePaper) {
  using T = typename TestFixture::T;
  // Block (0, 0): (0, 0), (0, 7), (7, 7), and bit 8 r + c; block (0, 2): two entries, aside;
  // block (1, 1): a full row of eight.
  Csr<double> a{9, 20, {0, 3, 3, 3, 3, 3, 3, 3, 5, 13}, {0, 7, 16, 7, 19}, {1, 2, 3, 4, 5}};
  for (Index c = 8; c < 16; ++c) a.columns.push_back(c), a.values.push_back(c);
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  Spaden<T> spaden(this->ctx(), there.view());
  auto const& m = spaden.arrays();
  EXPECT_EQ(to_host(this->ctx(), m.start), (std::vector<std::uint32_t>{0, 1, 2}));
  auto blocks = to_host(this->ctx(), m.blocks);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].bitmap, std::uint64_t{1} | std::uint64_t{1} << 7 | std::uint64_t{1} << 63);
  EXPECT_EQ(blocks[0].column, 0);
  EXPECT_EQ(blocks[1].bitmap, 0xffu);
  EXPECT_EQ(blocks[1].column, 1);
  EXPECT_EQ(blocks[1].offset, 3u);
  EXPECT_EQ(blocks[2].offset, 11u);
  EXPECT_EQ(to_host(this->ctx(), m.side_start),
            (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(to_host(this->ctx(), m.side_columns), (std::vector<std::int32_t>{16, 19}));
}

template <class P>
class SpadenProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(SpadenProducts, PairsOnBoth, Label);

/// Every number of groups, long rows in pieces, x aligned and not, k = 1 and 3.
TYPED_TEST(SpadenProducts, EveryWayIsWithinItsBound) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> a = representable<S>(m.matrix);
    Csr<double> stored = widened(a);
    for (SpadenTuning tuning : tunings)
      for (int groups : {0, 1, 2, 4}) {
        if (a.cols > 10000 && groups > 0) continue;  // the others are fast
        tuning.groups = groups;
        SpadenOperator<T, S> A(this->ctx(), a.view(), tuning);
        for (Index k : {1, 3})
          for (Layout layout : {Layout::row_major, Layout::col_major}) {
            auto x = rounded<T>(random_values(std::size_t(a.cols) * k, 5));
            Guarded<T> gx(this->ctx(), a.cols, k, layout, 1, x);
            Guarded<T> gy(this->ctx(), a.rows, k, layout, 1,
                          std::vector<double>(std::size_t(a.rows) * k, NAN));
            A.apply(this->ctx(), gx.in(), gy.view());
            Exact e = exact_apply(stored, Op::none, 1, x, 0, {}, k);
            ASSERT_TRUE(within(A.traits().precision, real_of<T>, e, gy.get()))
                << "side " << tuning.side << ", groups " << groups << ", k " << k;
            ASSERT_TRUE(gy.untouched());
          }
      }
  }
}

TYPED_TEST(SpadenProducts, DotAndResidual) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Csr<S> a = converted<S>(dominant(517, 30, 3));
  SpadenOperator<T, S> A(this->ctx(), a.view());
  check_dot_and_residual<T>(this->ctx(), A, widened(a));
}

TYPED_TEST(SpadenProducts, ScalingIsUndone) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  if constexpr (sizeof(S) == 2)
    check_scaling<T>(this->ctx(), [&](ScaledCsr<S> const& a) {
      return std::make_shared<SpadenOperator<T, S>>(this->ctx(), a);
    });
}

TEST(SpadenErrors, TuningOutOfRangeIsRefused) {
  Context ctx(Backend::host);
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  EXPECT_THROW(Spaden<double>(ctx, a.view(), {.side = -1}), ShapeError);
  EXPECT_THROW(Spaden<double>(ctx, a.view(), {.long_row = 1, .piece = 2}), ShapeError);
  EXPECT_THROW(SpadenOperator<double>(ctx, a.view(), {.groups = 3}), ShapeError);
}

/// The byte cost that the format page states: 2 + 16 / fill an entry in fp16, and row pointers.
TEST(SpadenBytes, AreThoseOfTheFormula) {
  Context ctx(Backend::host);
  for (Csr<double> const& a :
       {generate(Poisson27Params{.n = 16, .coefficient = Coefficient::random}),
        generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random})}) {
    Csr<half> h = converted<half>(a);
    Spaden<half> all(ctx, h.view(), {.side = 0}), aside(ctx, h.view());
    double entries = double(a.entries()), fill = entries / double(all.view().block_count);
    double pointers = 4.5 * a.rows + 100;
    EXPECT_LE(double(all.bytes()), (2 + 16 / fill) * entries + pointers);
    EXPECT_LE(double(aside.bytes()), (2 + 16 / fill) * entries + pointers);
  }
}

}  // namespace
}  // namespace tcsolve::test
