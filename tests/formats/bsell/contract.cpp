// SPDX-License-Identifier: Apache-2.0
/// Dense blocks in slices inside: the drawn example, there and back, the same arrays from host and
/// device, padding, the order of block rows, and products in blocks of every size. What they
/// compute is also in operator_contract.cpp with all other formats.
#include <tcsolve/formats/bsell/operator.hpp>
#include <tcsolve/formats/features.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int C = BsellView<double>::C;

/// n nodes of b unknowns, each with its own `lengths(I)` nodes of `far` in all; dense blocks whose
/// entries are small integers, every `every`-th of them missing (0: none).
template <class Length>
Csr<double> nodes(Index n, Index b, Index far, Length const& lengths, int every = 0) {
  Csr<double> a{n * b, far * b, {0}, {}, {}};
  std::mt19937_64 bits(n + 31 * b);
  int entry = 0;
  for (Index I = 0; I < n; ++I) {
    std::set<Index> columns;
    while (Index(columns.size()) < std::min<Index>(lengths(I), far))
      columns.insert(static_cast<Index>(bits() % far));
    for (Index r = 0; r < b; ++r) {
      for (Index const J : columns)
        for (Index c = 0; c < b; ++c) {
          if (every > 0 && ++entry % every == 0) continue;
          a.columns.push_back(J * b + c);
          a.values.push_back(1 + (7 * I + 3 * J + 2 * r + c) % 9);
        }
      a.offsets.push_back(a.entries());
    }
  }
  return a;
}

/// Block columns of each block row.
std::vector<std::set<Index>> blocks_of(Csr<double> const& a, Index b) {
  std::vector<std::set<Index>> blocks((std::size_t(a.rows) + b - 1) / b);
  for (Index i = 0; i < a.rows; ++i)
    for (Index const j : a.row_columns(i)) blocks[i / b].insert(j / b);
  return blocks;
}

/// Whether blocks of this size are taken: those of another size than the matrix has may be refused.
template <class T>
bool fits(Context& ctx, CsrView<T> const& a, Index block) {
  if (block == 0) return true;
  std::size_t const k = std::ranges::find(bsell_blocks, block) - bsell_blocks.begin();
  return padding_pays(double(count_blocks(ctx, a)[k].stored) * block * block, a.entries);
}

/// What is stored, padding told from zeros.
template <class T>
std::vector<std::uint8_t> value_bits(Context& ctx, Bsell<T> const& m) {
  auto const values = to_host(ctx, m.arrays().values);
  std::vector<std::uint8_t> bits(m.arrays().values.bytes());
  if (!bits.empty()) std::memcpy(bits.data(), values.data(), bits.size());
  return bits;
}

template <class P>
class BsellContract : public BackendTest<P> {
 public:
  using T = typename P::Value;
  Bsell<T> made(Csr<double> const& a, BsellTuning const& tuning = {}) {
    CsrStorage<T> there(this->ctx(), representable<T>(a));
    return Bsell<T>(this->ctx(), there.view(), tuning);
  }
};
TYPED_TEST_SUITE(BsellContract, StoredOnBoth, Label);

TYPED_TEST(BsellContract, IsAsDrawn) {
  using T = typename TestFixture::T;
  Csr<double> const a{
      4, 6, {0, 3, 6, 7, 9}, {0, 1, 5, 0, 1, 4, 2, 2, 3}, {5, 1, 2, 1, 6, 3, 2, 4, 7}};
  Bsell<T> const m = this->made(a, {.block = 2});
  auto const slices = to_host(this->ctx(), m.arrays().slices);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].first, 0);
  EXPECT_EQ(slices[0].numbers, 0u);
  EXPECT_EQ(slices[0].steps, 2);
  EXPECT_EQ(slices[0].base, 0);
  auto const numbers = to_host(this->ctx(), m.arrays().numbers);
  ASSERT_EQ(numbers.size(), 2u * C * 2);
  auto const number = [&](int step, int lane) {
    return reinterpret_cast<std::uint16_t const*>(numbers.data())[step * C + lane];
  };
  EXPECT_EQ(number(0, 0), 0);
  EXPECT_EQ(number(0, 1), 1);
  EXPECT_EQ(number(1, 0), 2);
  EXPECT_EQ(number(1, 1), 0);
  auto const values = to_host(this->ctx(), m.arrays().values);
  ASSERT_EQ(values.size(), 2u * 4 * C);
  double const expected[2][4][2] = {{{5, 2}, {1, 0}, {1, 4}, {6, 7}},
                                    {{0, 0}, {2, 0}, {3, 0}, {0, 0}}};
  for (int step = 0; step < 2; ++step)
    for (int e = 0; e < 4; ++e)
      for (int lane = 0; lane < C; ++lane) {
        T const v = values[(step * 4 + e) * C + lane];
        double const wanted = lane < 2 ? expected[step][e][lane] : 0;
        EXPECT_EQ(double(v), wanted);
        EXPECT_EQ(is_padding(v), wanted == 0);
      }
  EXPECT_TRUE(m.arrays().order.size() == 0);
  EXPECT_EQ(m.bytes(), 16 + 2u * C * 2 + 2u * 4 * C * sizeof(T));
  EXPECT_EQ(m.stored(), 2 * 4 * C);
}

TYPED_TEST(BsellContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<T> const a = representable<T>(m.matrix);
    CsrStorage<T> const there(this->ctx(), a);
    for (Index const block : {0, 2, 3, 4, 6}) {
      if (!fits(this->ctx(), there.view(), block)) continue;
      Bsell<T> bsell(this->ctx(), there.view(), {.block = block, .window = 64});
      EXPECT_TRUE(block == 0 || bsell.view().block == block);
      ASSERT_EQ(widened(bsell.to_csr(this->ctx())), widened(a)) << block;  // +0 for -0
      bsell.update_values(this->ctx(), there.view());
      ASSERT_EQ(widened(bsell.to_csr(this->ctx())), widened(a)) << block;
    }
  }
}

TYPED_TEST(BsellContract, HostAndDeviceMakeTheSameArrays) {
  using T = typename TestFixture::T;
  Context host(Backend::host);
  auto list = for_conversion();
  list.push_back({"elasticity", generate(ElasticityParams{.n = 9})});
  list.push_back({"uneven", nodes(3000, 3, 400, [](Index I) { return 1 + I * 7 % 23; })});
  // Rows whose columns fill more shared memory than is there without asking, and than there is.
  list.push_back({"long", nodes(300, 4, 200, [](Index I) { return 28 + I % 5; })});
  list.push_back({"longer", nodes(100, 6, 300, [](Index) { return 60; })});
  for (Named const& m : list) {
    SCOPED_TRACE(m.name);
    Csr<T> const a = representable<T>(m.matrix);
    CsrStorage<T> const there(this->ctx(), a);
    EXPECT_EQ(count_blocks(this->ctx(), there.view()), count_blocks(host, a.view()));
    for (Index const block : {0, 2, 3, 4, 6}) {
      if (!fits(this->ctx(), there.view(), block)) continue;
      BsellTuning const tuning{.block = block, .window = 96};
      Bsell<T> const bsell(this->ctx(), there.view(), tuning), expected(host, a.view(), tuning);
      BsellArrays<T> const &x = bsell.arrays(), &y = expected.arrays();
      EXPECT_EQ(x.view.block, y.view.block);
      EXPECT_EQ(x.view.steps, y.view.steps);
      ASSERT_TRUE(same_bits(this->ctx(), x.slices, y.slices));
      ASSERT_TRUE(same_bits(this->ctx(), x.numbers, y.numbers));
      ASSERT_TRUE(same_bits(this->ctx(), x.values, y.values));
      ASSERT_TRUE(same_bits(this->ctx(), x.order, y.order));
      ASSERT_TRUE(same_bits(this->ctx(), x.place, y.place));
    }
  }
}

TYPED_TEST(BsellContract, BlocksAreCounted) {
  using T = typename TestFixture::T;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    CsrStorage<T> const there(this->ctx(), representable<T>(m.matrix));
    BsellCounts const counts = count_blocks(this->ctx(), there.view());
    for (std::size_t k = 0; k < counts.size(); ++k) {
      auto const blocks = blocks_of(m.matrix, bsell_blocks[k]);
      BsellCount expected;
      for (std::size_t first = 0; first < blocks.size(); first += C) {
        std::size_t most = 0;
        Index low = m.matrix.cols, high = -1;
        for (std::size_t I = first; I < std::min(first + C, blocks.size()); ++I) {
          expected.blocks += Offset(blocks[I].size());
          most = std::max(most, blocks[I].size());
          if (blocks[I].empty()) continue;
          low = std::min(low, *blocks[I].begin()), high = std::max(high, *blocks[I].rbegin());
        }
        expected.stored += C * Offset(most);
        if (high - low > 65535) expected.wide += C * Offset(most);
      }
      EXPECT_EQ(counts[k], expected) << bsell_blocks[k];
      if (bsell_sorts(expected) || !fits(this->ctx(), there.view(), bsell_blocks[k])) continue;
      Bsell<T> const bsell(this->ctx(), there.view(), {.block = bsell_blocks[k]});
      EXPECT_EQ(bsell.stored(), expected.stored * bsell_blocks[k] * bsell_blocks[k]);
    }
  }
}

TYPED_TEST(BsellContract, TheBlockOfTheMatrixIsFound) {
  for (Index const b : bsell_blocks) {
    Csr<double> const a = nodes(500, b, 500, [](Index) { return 5; });
    EXPECT_EQ(this->made(a).view().block, b);
    EXPECT_EQ(this->made(a, {.block = 2}).view().block, 2);
  }
  EXPECT_EQ(this->made(generate(ElasticityParams{.n = 6})).view().block, 3);
}

TYPED_TEST(BsellContract, BlockRowsAreSortedWithinWindows) {
  using T = typename TestFixture::T;
  Index const n = 1000, b = 3, window = 128;
  Csr<double> const a = nodes(n, b, 300, [](Index I) { return 2 + I * 11 % 17; });
  Bsell<T> const m = this->made(a, {.block = b, .window = window});
  auto const blocks = blocks_of(a, b);
  auto const order = to_host(this->ctx(), m.arrays().order);
  auto const place = to_host(this->ctx(), m.arrays().place);
  std::vector<Index> expected(n);
  std::iota(expected.begin(), expected.end(), 0);
  for (Index first = 0; first < n; first += window)
    std::stable_sort(expected.begin() + first, expected.begin() + std::min(first + window, n),
                     [&](Index I, Index J) { return blocks[I].size() > blocks[J].size(); });
  EXPECT_EQ(order, expected);
  for (Index p = 0; p < n; ++p) EXPECT_EQ(place[order[p]], p);
  Index first = 0;
  for (std::size_t s = 0; BsellSlice const& slice : to_host(this->ctx(), m.arrays().slices)) {
    EXPECT_EQ(slice.first, first);
    EXPECT_EQ(slice.steps, Index(blocks[order[s * C]].size()));
    first += slice.steps, ++s;
  }
  EXPECT_EQ(m.view().steps, first);
  EXPECT_EQ(m.to_csr(this->ctx()), converted<T>(a));
  // Where all are alike nothing moves.
  EXPECT_EQ(this->made(nodes(n, b, 300, [](Index) { return 9; })).arrays().order.size(), 0u);
}

TYPED_TEST(BsellContract, ColumnNumbersHave32BitsWhereSliceIsWide) {
  using T = typename TestFixture::T;
  // Slices whose block columns reach from 7 to 7, 7 + 65535, 7 + 65536 and, alone, far away.
  Index const b = 2, n = 4 * C, far = 140000;
  Index const reach[] = {0, 65535, 65536, 130000};
  Csr<double> a{n * b, far * b, {0}, {}, {}};
  for (Index I = 0; I < n; ++I)
    for (Index r = 0; r < b; ++r) {
      Index const J = I / C == 3 || I % C == 31 ? 7 + reach[I / C] : 7;
      for (Index c = 0; c < b; ++c) a.columns.push_back(J * b + c), a.values.push_back(1 + r + c);
      a.offsets.push_back(a.entries());
    }
  Bsell<T> const m = this->made(a, {.block = b});
  auto const slices = to_host(this->ctx(), m.arrays().slices);
  std::vector<Index> bases, numbers;
  for (BsellSlice const& s : slices) bases.push_back(s.base), numbers.push_back(Index(s.numbers));
  EXPECT_EQ(bases, (std::vector<Index>{7, 7, -1, 130007}));
  EXPECT_EQ(numbers, (std::vector<Index>{0, 1, 2, 4}));
  EXPECT_EQ(m.arrays().numbers.size(), 5u * 64);
  EXPECT_EQ(m.to_csr(this->ctx()), converted<T>(a));
  BsellOperator<double, T> const A(this->ctx(), converted<T>(a).view(), {.block = b});
  auto const x = random_values(std::size_t(a.cols), 3);
  Guarded<double> gx(this->ctx(), x), gy(this->ctx(), std::vector<double>(a.rows, nan));
  A.apply(this->ctx(), gx.in(), gy.view());
  EXPECT_TRUE(
      within(A.traits().precision, Real::f64, exact_apply(a, Op::none, 1, x, 0, {}, 1), gy.get()));
}

TYPED_TEST(BsellContract, AnInfinityReachesOnlyRowsThatReferToIt) {
  using T = typename TestFixture::T;
  // Every fifth entry of the blocks is missing; one more is 0, and one -0.
  for (Index const b : bsell_blocks) {
    Csr<double> a = nodes(
        70, b, 70, [](Index I) { return 1 + I % 4; }, 5);
    a.values[3] = 0, a.values[7] = -0.0;
    BsellOperator<double, T> const A(this->ctx(), converted<T>(a).view(), {.block = b});
    for (double const bad : {inf, -inf, nan})
      for (Index at : {Index{0}, Index{17}, a.columns[3], a.columns[7], a.cols - 1}) {
        std::vector<double> x(a.cols, 1.0);
        x[at] = bad;
        Guarded<double> gx(this->ctx(), x), gy(this->ctx(), std::vector<double>(a.rows, nan));
        There<double> sigma(this->ctx(), 0.0);
        A.apply(this->ctx(), gx.in(), gy.view());
        auto const got = gy.get();
        for (Index i = 0; i < a.rows; ++i) {
          auto const columns = a.row_columns(i);
          bool const refers = std::ranges::find(columns, at) != columns.end();
          EXPECT_EQ(std::isfinite(got[i]), !refers) << b << ", row " << i;
        }
        A.apply_dot(this->ctx(), gx.in(), gy.view(), sigma.data());
        auto const again = gy.get();
        for (Index i = 0; i < a.rows; ++i)
          EXPECT_EQ(std::isfinite(again[i]), std::isfinite(got[i])) << b << ", row " << i;
      }
  }
}

TYPED_TEST(BsellContract, NewValues) {
  using T = typename TestFixture::T;
  for (Index const b : bsell_blocks) {
    Csr<double> a = nodes(
        333, b, 90, [](Index I) { return I * 5 % 13; }, 7);
    Bsell<T> m = this->made(a, {.block = b, .window = 64});
    std::size_t const bytes = m.bytes();
    T const* const values = m.view().values;
    for (std::uint64_t seed : {1, 2, 3}) {
      a.values = rounded<T>(random_values(a.values.size(), seed));
      a.values[seed] = 0, a.values[seed + 5] = -0.0;
      CsrStorage<T> const there(this->ctx(), converted<T>(a));
      m.update_values(this->ctx(), there.view());
      EXPECT_EQ(widened(m.to_csr(this->ctx())), a);  // -0 == 0
      Bsell<T> const anew = this->made(a, {.block = b, .window = 64});
      auto const got = to_host(this->ctx(), m.arrays().values);
      auto const wanted = to_host(this->ctx(), anew.arrays().values);
      EXPECT_EQ(std::memcmp(got.data(), wanted.data(), m.arrays().values.bytes()), 0);
      EXPECT_EQ(m.view().values, values);
      EXPECT_EQ(m.bytes(), bytes);
    }
    Csr<double> other = a;
    other.rows -= 1, other.offsets.pop_back();
    other.columns.resize(other.offsets.back()), other.values.resize(other.offsets.back());
    CsrStorage<T> const there(this->ctx(), converted<T>(other));
    EXPECT_THROW(m.update_values(this->ctx(), there.view()), ShapeError);
  }
}

/// Block rows that are not full go by the padding that is there: none comes or goes, whatever an
/// entry was or becomes.
TYPED_TEST(BsellContract, NewValuesGoBetweenHoles) {
  using T = typename TestFixture::T;
  for (Index const b : bsell_blocks) {
    Csr<double> a = nodes(
        150, b, 90, [](Index I) { return I * 5 % 13; }, 4);
    Csr<T> now = representable<T>(a);
    CsrStorage<T> const first(this->ctx(), now);
    Bsell<T> m(this->ctx(), first.view(), {.block = b, .window = 64});
    for (T const v : {T(0.0f), T(-0.0f), T(3.0f), T(-0.0f), T(0.0f), T(-1.0f)}) {
      for (std::size_t k = 0; k < now.values.size(); k += 1 + k % 3) now.values[k] = v;
      CsrStorage<T> const there(this->ctx(), now);
      m.update_values(this->ctx(), there.view());
      Bsell<T> const anew(this->ctx(), there.view(), {.block = b, .window = 64});
      EXPECT_EQ(widened(m.to_csr(this->ctx())), widened(now));
      ASSERT_EQ(value_bits(this->ctx(), m), value_bits(this->ctx(), anew));
    }
  }
}

/// A row more or less full than it was: what is stored then is nobody's, but arrays end where they
/// end, and the pattern is still there for its own values.
TYPED_TEST(BsellContract, AnotherPatternStaysWithinItsArrays) {
  using T = typename TestFixture::T;
  for (Index const b : bsell_blocks)
    for (int const every : {0, 4}) {
      Csr<double> const a = nodes(
          96, b, 90, [](Index) { return 6; }, every);
      CsrStorage<T> const there(this->ctx(), representable<T>(a));
      Bsell<T> m(this->ctx(), there.view(), {.block = b});
      auto const wanted = value_bits(this->ctx(), m);
      Offset const entries = a.entries();
      for (Index const from : {Index{0}, a.rows / 2, a.rows - 1}) {
        Csr<double> other = a;  // all entries in rows from there on, as many as fit, or in one
        for (Index i = 0; i <= a.rows; ++i)
          other.offsets[i] =
              i <= from ? 0 : std::min(entries, Offset{i - from} * std::min(a.cols, 7 * b));
        other.offsets[a.rows] = entries;
        CsrStorage<T> const unlike(this->ctx(), converted<T>(other));
        m.update_values(this->ctx(), unlike.view());
      }
      m.update_values(this->ctx(), there.view());
      EXPECT_EQ(value_bits(this->ctx(), m), wanted);
    }
}

TYPED_TEST(BsellContract, RefusesWhatIsNotMadeOfBlocks) {
  using T = typename TestFixture::T;
  Csr<double> const a = random_matrix(60000, 60000, 20, 4);
  CsrStorage<T> const there(this->ctx(), converted<T>(a));
  for (Index const block : {0, 2, 3, 4, 6}) {
    std::string const text =
        message_of<MatrixError>([&] { Bsell<T>(this->ctx(), there.view(), {.block = block}); });
    EXPECT_NE(text.find("another format"), std::string::npos) << text;
  }
  for (Index const block : {-1, 1, 5, 8})
    EXPECT_THROW(Bsell<T>(this->ctx(), there.view(), {.block = block}), ShapeError);
  EXPECT_THROW(Bsell<T>(this->ctx(), there.view(), {.window = 0}), ShapeError);
}

TYPED_TEST(BsellContract, OneDenseBlockRowAmongShortOnes) {
  using T = typename TestFixture::T;
  Csr<double> const a = nodes(200, 3, 1500, [](Index I) {
    return I == 77 ? 1500 : I % 10 == 9 ? 0 : 2;
  });
  Bsell<T> const m = this->made(a, {.block = 3});
  EXPECT_EQ(m.to_csr(this->ctx()), converted<T>(a));
  EXPECT_EQ(to_host(this->ctx(), m.arrays().order)[0], 77);
  EXPECT_EQ(to_host(this->ctx(), m.arrays().slices)[0].steps, 1500);
}

TYPED_TEST(BsellContract, RealMatricesThereAndBack) {
  using T = typename TestFixture::T;
  char const* const folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) GTEST_SKIP() << "TCSOLVE_MATRICES is not set";
  std::map<std::string, Index> const known{
      {"tripod_elast_r2", 3}, {"xenon1", 3}, {"nsjac", 3}, {"bcsstk17", 0}};
  for (auto const& [name, block] : known) {
    auto const file = std::filesystem::path(folder) / (name + ".mtx.xz");
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(name);
    Csr<double> const a = widened(representable<T>(read_matrix_market(file)));
    Bsell<T> const m = this->made(a);
    EXPECT_TRUE(block == 0 || m.view().block == block);
    EXPECT_EQ(widened(m.to_csr(this->ctx())), a);
    BsellCounts const counts =
        count_blocks(this->ctx(), CsrStorage<T>(this->ctx(), converted<T>(a)).view());
    std::size_t const k = bsell_choice(counts, a.entries(), sizeof(T));
    EXPECT_NEAR(bsell_stored(counts[k]) * m.view().block * m.view().block / double(m.stored()), 1,
                0.05);
  }
}

template <class P>
class BsellProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(BsellProducts, PairsOnBoth, Label);

/// Sorted and not, with missing entries, extents that b does not divide, slices that warps share
/// and do not; blocks of vectors in both layouts, strides, alpha and beta.
TYPED_TEST(BsellProducts, BlocksOfEverySize) {
  using T = typename TypeParam::Value;
  using S = typename TypeParam::Stored;
  for (Index const b : bsell_blocks)
    for (int kind = 0; kind < 5; ++kind) {
      SCOPED_TRACE(cat("block ", b, ", kind ", kind));
      Csr<double> a = kind == 0   ? nodes(90, b, 90, [](Index) { return 8; })
                      : kind == 1 ? nodes(
                                        150, b, 60, [](Index I) { return I * 7 % 29; }, 4)
                      : kind == 2 ? nodes(
                                        70, b, 400, [](Index I) { return I == 3 ? 400 : 1; }, 9)
                      : kind == 3 ? random_matrix(6 * 40 - 1, 6 * 30 - 1, 25, 7)
                                  : random_matrix(6 * 40 + 1, 6 * 30 - 5, 25, 8);
      auto const random = rounded<S>(random_values(a.values.size(), 1));
      a.values = random;
      BsellOperator<T, S> const A(this->ctx(), converted<S>(a).view(), {.block = b, .window = 64});
      EXPECT_EQ(A.matrix().view().block, b);
      for (Index const k : {1, 3})
        for (Layout const layout : {Layout::row_major, Layout::col_major})
          for (double const beta : {0.0, -0.5}) {
            auto const x = rounded<T>(random_values(std::size_t(a.cols) * k, 2));
            auto y = rounded<T>(random_values(std::size_t(a.rows) * k, 3));
            Exact const exact = exact_apply(a, Op::none, 1.5, x, beta, y, k);
            if (beta == 0) std::fill(y.begin(), y.end(), nan);
            Guarded<T> gx(this->ctx(), a.cols, k, layout, 2, x);
            Guarded<T> gy(this->ctx(), a.rows, k, layout, 1, y),
                again(this->ctx(), a.rows, k, layout, 1, y);
            A.apply(this->ctx(), T(1.5), gx.in(), T(beta), gy.view());
            EXPECT_TRUE(within(A.traits().precision, real_of<T>, exact, gy.get()));
            EXPECT_TRUE(gx.unchanged());
            EXPECT_TRUE(gy.untouched());
            A.apply(this->ctx(), T(1.5), gx.in(), T(beta), again.view());
            EXPECT_EQ(gy.get(), again.get());
          }
      if (a.rows == a.cols) check_dot_and_residual<T>(this->ctx(), A, a);
    }
}

/// So many block rows that every warp has its own slice, and few long ones; small integers, so that
/// every sum is exact.
TYPED_TEST(BsellProducts, ManyRowsAreMultipliedExactly) {
  using T = typename TypeParam::Value;
  using S = typename TypeParam::Stored;
  for (auto const& a : {generate(ElasticityParams{.n = 26}), generate(ElasticityParams{.n = 7})}) {
    Csr<double> whole = a;
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        whole.values[k] = (3 * i + a.columns[k]) % 7 - 3;
    BsellOperator<T, S> const A(this->ctx(), converted<S>(whole).view());
    EXPECT_EQ(A.matrix().view().block, 3);
    std::vector<double> x(a.cols), expected(a.rows);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i % 11) - 5;
    long double sigma = 0;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        expected[i] += whole.values[k] * x[a.columns[k]];
      sigma += x[i] * expected[i];
    }
    Guarded<T> gx(this->ctx(), x), gy(this->ctx(), std::vector<double>(a.rows, nan));
    A.apply(this->ctx(), gx.in(), gy.view());
    EXPECT_EQ(gy.get(), expected);
    There<double> got(this->ctx(), 0.0);
    Guarded<T> gz(this->ctx(), std::vector<double>(a.rows, nan));
    A.apply_dot(this->ctx(), gx.in(), gz.view(), got.data());
    EXPECT_EQ(gz.get(), expected);
    EXPECT_EQ(got.get(), double(sigma));
  }
}

}  // namespace
}  // namespace tcsolve::test
