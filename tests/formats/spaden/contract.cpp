// SPDX-License-Identifier: Apache-2.0
/// bitBSR inside: there and back, the same arrays from host and device, the side entries, long rows
/// in pieces, scaling. What it computes is in operator_contract.cpp with all other formats.
#include <tcsolve/formats/spaden/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

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

template <class T>
void expect_same(Context& ctx, SpadenArrays<T> const& x, SpadenArrays<T> const& y) {
  ASSERT_TRUE(same_bits(ctx, x.start, y.start));
  ASSERT_TRUE(same_bits(ctx, x.blocks, y.blocks));
  ASSERT_TRUE(same_bits(ctx, x.values, y.values));
  ASSERT_TRUE(same_bits(ctx, x.side_start, y.side_start));
  ASSERT_TRUE(same_bits(ctx, x.side_values, y.side_values));
  ASSERT_TRUE(same_bits(ctx, x.side_columns, y.side_columns));
  ASSERT_TRUE(same_bits(ctx, x.piece_start, y.piece_start));
  ASSERT_TRUE(same_bits(ctx, x.side_piece_start, y.side_piece_start));
  ASSERT_TRUE(same_bits(ctx, x.piece, y.piece));
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
      expect_same(this->ctx(), spaden.arrays(), expected.arrays());
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Rows of a matrix by their columns begin, begin + step, ..., < end; values 1, 2, 3, 0, 1, ...
struct Run {
  Index begin = 0, end = 0, step = 1;
};
Csr<double> of_runs(Index cols, std::vector<Run> const& rows) {
  Csr<double> a{static_cast<Index>(rows.size()), cols, {0}, {}, {}};
  for (Run const& run : rows) {
    for (Index j = run.begin; j < run.end; j += run.step)
      a.columns.push_back(j), a.values.push_back(a.entries() % 4);
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// Block rows that are hard to cut evenly.
std::vector<Named> uneven() {
  std::vector<Named> list;
  auto eight = [](int row, Run special, Run other) {
    std::vector<Run> rows(8, other);
    rows[row] = special;
    return rows;
  };
  for (int row : {0, 3, 7}) {
    list.push_back({cat("one dense row among short ones, ", row),
                    of_runs(3000, eight(row, {0, 3000}, {5, 3000, 900}))});
    list.push_back({cat("one dense row, the others in one block column, ", row),
                    of_runs(3000, eight(row, {0, 3000}, {1600, 1608}))});
    list.push_back({cat("one scattered row, the others dense in a few columns, ", row),
                    of_runs(200000, eight(row, {0, 200000, 97}, {80003, 80603}))});
    list.push_back({cat("two ends, ", row), of_runs(90000, eight(row, {0, 700}, {89300, 90000}))});
    std::vector<Run> few(row + 1);
    few[row] = {1, 1001, 3};
    list.push_back({cat("the last of few rows, ", row), of_runs(1001, few)});
  }
  std::vector<Run> rows(21, Run{0, 500});
  list.push_back({"dense block rows, five rows more", of_runs(500, rows)});
  for (int r = 0; r < 21; ++r) rows[r] = {r, 5000, 1 + r};
  list.push_back({"every step", of_runs(5000, rows)});
  list.push_back(
      {"the last column there is",
       of_runs(2147483647, {{2147483640, 2147483647}, {0, 9}, {8, 2100000000, 9999991}})});
  return list;
}

/// The arrays by the definition: the entries of each block in a map.
template <class T>
void expect_defined(SpadenArrays<T> const& m, Csr<T> const& a, int side) {
  std::size_t b = 0, v = 0, s = 0;
  for (Index I = 0; I < m.view.block_rows; ++I) {
    ASSERT_EQ(m.start.data()[I], b);
    Index first = 8 * I, end = std::min(first + 8, a.rows);
    struct Block {
      std::uint64_t bitmap = 0;
      std::vector<T> values;
    };
    std::map<Index, Block> blocks;
    for (Index i = first; i < end; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        Block& block = blocks[a.columns[k] / 8];
        block.bitmap |= std::uint64_t{1} << (8 * (i - first) + a.columns[k] % 8);
        block.values.push_back(a.values[k]);
      }
    auto aside = [&](auto const& block) { return std::popcount(block.bitmap) <= side; };
    for (auto const& [column, block] : blocks) {
      if (aside(block)) continue;
      SpadenBlock const& got = m.blocks.data()[b++];
      ASSERT_EQ(got.bitmap, block.bitmap);
      ASSERT_EQ(got.column, column);
      ASSERT_EQ(got.offset, v);
      for (T value : block.values) ASSERT_EQ(m.values.data()[v++], value);
    }
    for (Index i = first; i < end; ++i) {
      if (m.side_start.size() > 0) { ASSERT_EQ(m.side_start.data()[i], s); }
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        if (!aside(blocks[a.columns[k] / 8])) continue;
        ASSERT_EQ(m.side_columns.data()[s], a.columns[k]);
        ASSERT_EQ(m.side_values.data()[s++], a.values[k]);
      }
    }
  }
  ASSERT_EQ(m.start.data()[m.view.block_rows], b);
  ASSERT_EQ(m.view.block_count, Offset(b));
  ASSERT_EQ(m.blocks.data()[b].offset, v);
  ASSERT_EQ(m.view.side_entries, Offset(s));
  ASSERT_EQ(m.side_start.size(), s > 0 ? std::size_t(a.rows) + 1 : 0);
  if (s > 0) { ASSERT_EQ(m.side_start.data()[a.rows], s); }
}

/// However the work is shared: shares of one entry up, which end in the middle of a block, whose
/// blocks are longer than they are, and which are empty.
TYPED_TEST(SpadenContract, SharesOfAnySizeMakeTheArraysOfTheDefinition) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  std::vector<Named> list = uneven();
  for (Named const& m : for_conversion()) list.push_back(m);
  for (Named const& m : list) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    for (SpadenTuning tuning : tunings) {
      tuning.share = a.entries() + 1;  // one thread a block row
      Spaden<T> expected(host, a.view(), tuning);
      expect_defined(expected.arrays(), a, tuning.side);
      for (Index share : {0, 1, 5, 8, 32, 64, 100}) {
        tuning.share = share;
        Spaden<T> spaden(this->ctx(), there.view(), tuning);
        expect_same(this->ctx(), spaden.arrays(), expected.arrays());
        ASSERT_FALSE(this->HasFatalFailure())
            << "side " << tuning.side << ", long_row " << tuning.long_row << ", share " << share;
      }
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
    std::vector<double> const xs[] = {rounded<T>(random_values(a.cols, 5)),
                                      rounded<T>(random_values(std::size_t(a.cols) * 3, 5))};
    Exact const exact[] = {exact_apply(stored, Op::none, 1, xs[0], 0, {}, 1),
                           exact_apply(stored, Op::none, 1, xs[1], 0, {}, 3)};
    for (SpadenTuning tuning : tunings)
      for (int groups : {0, 1, 2, 4}) {
        if (a.cols > 10000 && groups > 0) continue;  // the others are fast
        tuning.groups = groups;
        SpadenOperator<T, S> A(this->ctx(), a.view(), tuning);
        for (Index k : {1, 3})
          for (Layout layout : {Layout::row_major, Layout::col_major}) {
            auto const& x = xs[k / 3];
            Guarded<T> gx(this->ctx(), a.cols, k, layout, 1, x);
            Guarded<T> gy(this->ctx(), a.rows, k, layout, 1,
                          std::vector<double>(std::size_t(a.rows) * k, NAN));
            A.apply(this->ctx(), gx.in(), gy.view());
            ASSERT_TRUE(within(A.traits().precision, real_of<T>, exact[k / 3], gy.get()))
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

TEST(SpadenErrors, TuningOutOfRangeIsRefused) {
  Context ctx(Backend::host);
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  EXPECT_THROW(Spaden<double>(ctx, a.view(), {.side = -1}), ShapeError);
  EXPECT_THROW(Spaden<double>(ctx, a.view(), {.long_row = 1, .piece = 2}), ShapeError);
  EXPECT_THROW(Spaden<double>(ctx, a.view(), {.share = -1}), ShapeError);
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
