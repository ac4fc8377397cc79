// SPDX-License-Identifier: Apache-2.0
/// DASP inside: there and back, the same arrays from host and device, categories, scaling, and
/// every way to multiply. What it computes is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/dasp/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <cmath>

#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class DaspContract : public BackendTest<P> {};
TYPED_TEST_SUITE(DaspContract, StoredOnBoth, Label);

constexpr DaspTuning tunings[] = {{},
                                  {.max_length = 8},
                                  {.threshold = 0.1},
                                  {.threshold = 1},
                                  {.long_blocks = 2},
                                  {.max_length = 4, .threshold = 0.5, .long_blocks = 4}};

TYPED_TEST(DaspContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (DaspTuning const& tuning : tunings) {
      Dasp<T> dasp(this->ctx(), there.view(), tuning);
      ASSERT_EQ(dasp.to_csr(this->ctx()), a)
          << tuning.max_length << " " << tuning.threshold << " " << tuning.long_blocks;
      ASSERT_GE(dasp.stored(), a.entries());
    }
  }
}

TYPED_TEST(DaspContract, HostAndDeviceMakeTheSameArrays) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (DaspTuning const& tuning : tunings) {
      Dasp<T> dasp(this->ctx(), there.view(), tuning), expected(host, a.view(), tuning);
      DaspArrays<T> const &x = dasp.arrays(), &y = expected.arrays();
      ASSERT_TRUE(same_bits(this->ctx(), x.order, y.order));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_start, y.long_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.long_order, y.long_order));
      ASSERT_TRUE(same_bits(this->ctx(), x.units, y.units));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.indices, y.indices));
      ASSERT_TRUE(same_bits(this->ctx(), x.irregular_start, y.irregular_start));
      ASSERT_TRUE(same_bits(this->ctx(), x.irregular_values, y.irregular_values));
      ASSERT_TRUE(same_bits(this->ctx(), x.irregular_columns, y.irregular_columns));
    }
  }
}

TYPED_TEST(DaspContract, RowsAreWhereThePaperPutsThem) {
  using T = typename TestFixture::T;
  // Lengths: 300 long; 5, 40, 40, 7 medium; 4; 3, 3; 2, 2, 2; 1, 1, 1; 0.
  std::vector<Index> lengths{1, 300, 5, 3, 40, 2, 1, 40, 7, 4, 3, 2, 0, 1, 2};
  Csr<double> a;
  a.rows = static_cast<Index>(lengths.size()), a.cols = 400;
  for (Index length : lengths) {
    for (Index j = 0; j < length; ++j) a.columns.push_back(j), a.values.push_back(j + 1);
    a.offsets.push_back(a.entries());
  }
  CsrStorage<T> there(this->ctx(), converted<T>(a));
  Dasp<T> dasp(this->ctx(), there.view());
  auto const& d = dasp.view();
  EXPECT_EQ(d.long_rows, 1);
  EXPECT_EQ(d.long_units, 1);  // 300 of 1024 slots
  EXPECT_EQ(d.medium_rows, 4);
  EXPECT_EQ(d.pairs_13(), 2);
  EXPECT_EQ(d.pairs_22(), 2);
  EXPECT_EQ(d.fours(), 1);
  EXPECT_EQ(d.singles(), 1);
  EXPECT_EQ(d.with[0], 1);
  EXPECT_EQ(to_host(this->ctx(), dasp.arrays().order),
            (std::vector<Index>{1, 4, 7, 8, 2, 9, 3, 10, 5, 11, 14, 0, 6, 13, 12}));
  // Rows of 40, 40, 7, 5: a block of 16, then 4 + 4 + 3 + 1 = 12 of 16, then eight of 8.
  EXPECT_EQ(dasp.arrays().medium_blocks, 10);
  EXPECT_EQ(d.irregular, 0);
  Dasp<T> paper(this->ctx(), there.view(), {.threshold = 0.75});
  EXPECT_EQ(paper.arrays().medium_blocks, 2);
  EXPECT_EQ(paper.view().irregular, 32 + 32);
}

template <class P>
class DaspProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(DaspProducts, PairsOnBoth, Label);

/// Every unit, every LOOP_NUM, long rows in many parts, k = 1 and 3.
TYPED_TEST(DaspProducts, EveryWayIsWithinItsBound) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  std::vector<DaspUnitOf> units{DaspUnitOf::automatic, DaspUnitOf::fma, DaspUnitOf::mma};
  if (std::is_same_v<S, half>) units.push_back(DaspUnitOf::half_products);
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> a = representable<S>(m.matrix);
    Csr<double> stored = widened(a);
    // x is in [1/4, 1): no entry is subnormal in fp16.
    std::vector<double> const x3 = rounded<T>(random_values(std::size_t(a.cols) * 3, 5, 0.25, 1));
    std::vector<double> const xs[] = {{x3.begin(), x3.begin() + a.cols}, x3};
    Exact const exact[] = {exact_apply(stored, Op::none, 1, xs[0], 0, {}, 1),
                           exact_apply(stored, Op::none, 1, xs[1], 0, {}, 3)};
    for (DaspUnitOf unit : units)
      for (int loop : {0, 1, 2, 4})
        for (DaspTuning tuning : {DaspTuning{}, DaspTuning{.max_length = 8, .long_blocks = 2}}) {
          if (a.cols > 10000 && loop + int(unit) > 0) continue;  // the others are fast
          tuning.loop_num = loop;
          DaspOperator<T, S> A(this->ctx(), a.view(), {tuning, unit});
          Precision p = A.traits().precision;
          for (Index k : {1, 3}) {
            Guarded<T> gx(this->ctx(), a.cols, k, Layout::row_major, 0, xs[k / 3]);
            Guarded<T> gy(this->ctx(), a.rows, k, Layout::row_major, 0,
                          std::vector<double>(std::size_t(a.rows) * k, NAN));
            A.apply(this->ctx(), gx.in(), gy.view());
            Exact e = exact[k / 3];
            // Tensor sums truncate: 2^-23.
            if (unit == DaspUnitOf::mma && sizeof(T) == 4 && std::is_same_v<S, half>)
              for (auto& length : e.length) length = 2 * length + 2;
            ASSERT_TRUE(within(p, real_of<T>, e, gy.get()))
                << "unit " << int(unit) << ", loop_num " << loop << ", k " << k;
            ASSERT_TRUE(gy.untouched());
          }
        }
  }
}

TYPED_TEST(DaspProducts, DotAndResidual) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Csr<S> a = converted<S>(dominant(517, 30, 3));
  DaspOperator<T, S> A(this->ctx(), a.view());
  check_dot_and_residual<T>(this->ctx(), A, widened(a));
}

TYPED_TEST(DaspProducts, SameBitsOnEveryRun) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  Csr<S> a =
      representable<S>(generate(LongrowsParams{.n = 3000, .long_rows = 7, .long_length = 2500}));
  DaspOperator<T, S> A(this->ctx(), a.view(), {{.long_blocks = 2}});
  Guarded<T> x(this->ctx(), random_values(a.cols, 1));
  std::vector<double> first;
  for (int run = 0; run < 20; ++run) {
    Guarded<T> y(this->ctx(), std::vector<double>(a.rows, NAN));
    A.apply(this->ctx(), x.in(), y.view());
    if (run == 0) first = y.get();
    ASSERT_EQ(y.get(), first);
  }
}

TEST(DaspErrors, TuningOutOfRangeIsRefused) {
  Context ctx(Backend::host);
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  EXPECT_THROW(Dasp<double>(ctx, a.view(), {.max_length = 3}), ShapeError);
  EXPECT_THROW(Dasp<double>(ctx, a.view(), {.long_blocks = 3}), ShapeError);
  EXPECT_THROW(DaspOperator<double>(ctx, a.view(), {{.loop_num = 3}}), ShapeError);
}

TEST(DaspErrors, ProductsInFp16TakeFp16ValuesAlone) {
  Context ctx(Backend::host);
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  auto const made = [&]<class S>(S) {
    DaspOperator<double, S>(ctx, converted<S>(a).view(), {{}, DaspUnitOf::half_products});
  };
  EXPECT_NO_THROW(made(half{}));
  EXPECT_THROW(made(double{}), Unsupported);
  std::string const text = message_of<Unsupported>([&] { made(bfloat16{}); });
  EXPECT_NE(text.find("fp16, not bf16"), std::string::npos) << text;
}

}  // namespace
}  // namespace tcsolve::test
