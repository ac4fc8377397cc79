// SPDX-License-Identifier: Apache-2.0
/// The elementwise operations against long double, at the sizes where a block, a chunk or a grid
/// ends.
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <cmath>
#include <limits>
#include <set>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t sizes[] = {0, 1, 31, 255, 256, 257, 4095, 4096, 4097, 100000};

template <class P>
class KernelsBasic : public BackendTest<P> {
 public:
  using T = typename P::Value;
  static constexpr double u = roundoff(real_of<T>);
  std::vector<double> values(std::size_t n, std::uint64_t seed) {
    return rounded<T>(random_values(n, seed));
  }
};
TYPED_TEST_SUITE(KernelsBasic, RealsOnBoth, Label);

TYPED_TEST(KernelsBasic, Fill) {
  using T = typename TestFixture::T;
  for (std::size_t n : sizes) {
    Guarded<T> y(this->ctx(), std::vector<double>(n, nan));
    fill(this->ctx(), y.view(), 0.1);
    EXPECT_EQ(y.get(), std::vector<double>(n, rounded<T>(0.1)));
    EXPECT_TRUE(y.untouched());
  }
  for (Layout layout : {Layout::row_major, Layout::col_major}) {
    Guarded<T> y(this->ctx(), 37, 5, layout, 3, std::vector<double>(185, nan));
    fill(this->ctx(), y.view(), -2);
    EXPECT_EQ(y.get(), std::vector<double>(185, -2));
    EXPECT_TRUE(y.untouched());
  }
}

TYPED_TEST(KernelsBasic, Permute) {
  using T = typename TestFixture::T;
  for (std::size_t n : sizes) {
    std::vector<Index> p(n);  // i -> 11 i + 3, a bijection of each of these sizes
    for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<Index>((11 * i + 3) % n);
    There<Index> numbers(this->ctx(), p);
    for (Layout layout : {Layout::row_major, Layout::col_major})
      for (Index k : {1, 3}) {
        auto const x = this->values(n * k, 4);
        Guarded<T> from(this->ctx(), static_cast<Index>(n), k, layout, 2, x);
        Guarded<T> to(this->ctx(), static_cast<Index>(n), k, layout, 1,
                      std::vector<double>(n * k, nan));
        permute<T>(this->ctx(), numbers.data(), from.view(), to.view());
        auto const y = to.get();
        for (std::size_t i = 0; i < n * k; ++i) ASSERT_EQ(y[i], x[p[i / k] * k + i % k]) << i;
        EXPECT_TRUE(to.untouched() && from.untouched());
      }
  }
}

/// Output i of SplitMix64 (Steele et al. 2014) for the state seed * 0xd134..., scaled to [-1, 1).
double splitmix(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return double(z >> 11) / 4503599627370496.0 - 1;
}

TYPED_TEST(KernelsBasic, RandomIsAFunctionOfSeedAndIndex) {
  using T = typename TestFixture::T;
  for (std::size_t n : sizes) {
    Guarded<T> y(this->ctx(), std::vector<double>(n, nan));
    submit(this->ctx(), Random<T>{static_cast<std::int64_t>(n), 7, y.data()});
    auto got = y.get();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], rounded<T>(splitmix(7, i))) << i;
    EXPECT_TRUE(y.untouched());
  }
}

TYPED_TEST(KernelsBasic, RandomLooksUniform) {
  using T = typename TestFixture::T;
  constexpr std::size_t n = 1000000;
  Guarded<T> a(this->ctx(), std::vector<double>(n)), b(this->ctx(), std::vector<double>(n));
  submit(this->ctx(), Random<T>{n, 1, a.data()});
  submit(this->ctx(), Random<T>{n, 2, b.data()});
  auto x = a.get(), y = b.get();
  double mean = 0, square = 0, product = 0, neighbours = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_GE(x[i], -1);
    ASSERT_LE(x[i], 1);  // 1 itself only by rounding to float
    mean += x[i] / n, square += x[i] * x[i] / n, product += x[i] * y[i] / n;
    neighbours += x[i] * x[(i + 1) % n] / n;
  }
  EXPECT_NEAR(mean, 0, 5e-3);  // 8 standard deviations
  EXPECT_NEAR(square, 1.0 / 3, 3e-3);
  EXPECT_NEAR(product, 0, 3e-3) << "seeds 1 and 2 are correlated";
  EXPECT_NEAR(neighbours, 0, 3e-3);
}

struct Pair {
  double alpha, beta;
};
constexpr Pair pairs[] = {{1, 0}, {0.7, -1.3}, {-1, 1}, {0, 1}, {0, 0}, {1, 1}, {1e-8, 1e8}};

/// y = alpha x + beta y from T to U; every operand that is not read is NaN.
template <class T, class U>
void check_axpby(Context& ctx, Pair p, Index rows, Index cols, Layout x_layout, Layout y_layout,
                 Index pad) {
  SCOPED_TRACE(cat("alpha ", p.alpha, ", beta ", p.beta, ", ", rows, " x ", cols, ", layouts ",
                   int(x_layout), int(y_layout)));
  std::size_t n = static_cast<std::size_t>(rows) * cols;
  auto x = rounded<T>(random_values(n, 1)), y0 = rounded<U>(random_values(n, 2));
  if (p.alpha == 0) x.assign(n, nan);
  if (p.beta == 0) y0.assign(n, nan);
  Guarded<T> gx(ctx, rows, cols, x_layout, pad, x);
  Guarded<U> gy(ctx, rows, cols, y_layout, pad, y0);
  axpby<T, U>(ctx, p.alpha, gx.in(), p.beta, gy.view());
  auto got = gy.get();
  for (std::size_t i = 0; i < n; ++i) {
    long double ax = p.alpha == 0 ? 0 : static_cast<long double>(p.alpha) * x[i];
    long double by = p.beta == 0 ? 0 : static_cast<long double>(p.beta) * y0[i];
    long double allowed = 1.01L * (3 * 0x1p-53L * (std::abs(ax) + std::abs(by)) +
                                   roundoff(real_of<U>) * std::abs(ax + by));
    ASSERT_LE(std::abs(got[i] - (ax + by)), allowed) << "element " << i << ": " << got[i];
  }
  EXPECT_TRUE(gy.untouched());
  EXPECT_TRUE(gx.unchanged());
}

TYPED_TEST(KernelsBasic, Axpby) {
  using T = typename TestFixture::T;
  for (std::size_t n : sizes)
    for (Pair p : pairs) {
      check_axpby<T, T>(this->ctx(), p, n, 1, Layout::row_major, Layout::row_major, 0);
      if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(KernelsBasic, AxpbyConvertsLayoutsAndTypes) {
  using T = typename TestFixture::T;
  for (Pair p : pairs)
    for (Layout x : {Layout::row_major, Layout::col_major})
      for (Layout y : {Layout::row_major, Layout::col_major})
        for (Index cols : {1, 7, 33}) {
          check_axpby<T, T>(this->ctx(), p, 129, cols, x, y, 3);
          check_axpby<double, T>(this->ctx(), p, 129, cols, x, y, 2);
          check_axpby<T, double>(this->ctx(), p, 129, cols, x, y, 2);
          check_axpby<float, T>(this->ctx(), p, 129, cols, x, y, 0);
          if (this->HasFatalFailure()) return;
        }
}

TYPED_TEST(KernelsBasic, CopyIsExact) {
  using T = typename TestFixture::T;
  auto x = this->values(999, 3);
  x[5] = nan, x[7] = -0.0, x[11] = std::numeric_limits<double>::infinity();
  Guarded<T> gx(this->ctx(), 333, 3, Layout::row_major, 0, x),
      y(this->ctx(), 333, 3, Layout::col_major, 1, x);
  fill(this->ctx(), y.view(), nan);
  copy<T, T>(this->ctx(), gx.in(), y.view());
  auto got = y.get();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(got[i] == x[i] || (std::isnan(got[i]) && std::isnan(x[i]))) << i;
}

TYPED_TEST(KernelsBasic, Rescale) {  // y = 2^e x, returns ||y||
  using T = typename TestFixture::T;
  for (std::size_t n : sizes) {
    auto x = this->values(n, 4);
    Guarded<T> gx(this->ctx(), x), y(this->ctx(), std::vector<double>(n, nan));
    double norm = rescale<T, T>(this->ctx(), 5, gx.in(), y.view());
    long double squares = 0;
    auto got = y.get();
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(got[i], 32 * x[i]);
      squares += static_cast<long double>(got[i]) * got[i];
    }
    EXPECT_NEAR(norm, std::sqrt(static_cast<double>(squares)), sum_bound(n, norm));
    EXPECT_TRUE(y.untouched());
  }
}

TYPED_TEST(KernelsBasic, RescaleTakesExponentsBeyondTheRangeOfTheFactor) {
  if (sizeof(typename TestFixture::T) != 8) return;
  for (int e : {0, 1, -1, 1023, 1024, 1500, 2046, -1022, -1074, -1075, -1500, -2000})
    for (double x : {1.0, -1.5, 0x1.23456789abcdfp+1000, 0x1.8p-1074, 0x1p-1000, 0x1.fp1023}) {
      Guarded<double> gx(this->ctx(), {x}), y(this->ctx(), {nan});
      rescale<double, double>(this->ctx(), e, gx.in(), y.view());
      EXPECT_EQ(y.get()[0], std::ldexp(x, e)) << std::hexfloat << x << " 2^" << std::dec << e;
    }
}

TYPED_TEST(KernelsBasic, RescaleRoundsToTheTypeOfY) {
  using T = typename TestFixture::T;
  auto x = random_values(100, 5);
  Guarded<double> gx(this->ctx(), x);
  Guarded<T> y(this->ctx(), std::vector<double>(100, nan));
  double norm = rescale<double, T>(this->ctx(), -3, gx.in(), y.view());
  auto got = y.get();
  double squares = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(got[i], rounded<T>(x[i] / 8));
    squares += got[i] * got[i];  // of the rounded values
  }
  EXPECT_NEAR(norm * norm, squares, sum_bound(110, squares));
}

TYPED_TEST(KernelsBasic, Correct) {  // t = x + 2^e d
  using T = typename TestFixture::T;
  for (std::size_t n : sizes)
    for (int e : {0, -7, 40}) {
      auto d = this->values(n, 6), x = random_values(n, 7);
      Guarded<T> gd(this->ctx(), d);
      Guarded<double> gx(this->ctx(), x), t(this->ctx(), std::vector<double>(n, nan));
      PowerOfTwo two(e);
      submit(this->ctx(), Correct<T>{static_cast<std::int64_t>(n), two.factor, two.factor2,
                                     gd.data(), gx.data(), t.data()});
      auto got = t.get();
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], x[i] + std::ldexp(d[i], e)) << i;
      EXPECT_TRUE(t.untouched());
      EXPECT_TRUE(gx.unchanged() && gd.unchanged());
    }
}

TYPED_TEST(KernelsBasic, Multiply) {  // y = alpha d o x + beta y
  using T = typename TestFixture::T;
  for (Index cols : {1, 3, 8})
    for (Layout layout : {Layout::row_major, Layout::col_major})
      for (Pair p : pairs) {
        Index rows = 1367;
        std::size_t n = static_cast<std::size_t>(rows) * cols;
        auto d = this->values(rows, 8), x = this->values(n, 9), y0 = this->values(n, 10);
        if (p.beta == 0) y0.assign(n, nan);
        Guarded<T> gd(this->ctx(), d), gx(this->ctx(), rows, cols, layout, 2, x),
            gy(this->ctx(), rows, cols, layout, 1, y0);
        submit(this->ctx(), Multiply<T>{static_cast<std::int64_t>(n), p.alpha, gd.data(), gx.in(),
                                        p.beta, gy.view()});
        auto got = gy.get();
        for (std::size_t i = 0; i < n; ++i) {
          long double a = static_cast<long double>(p.alpha) * d[i / cols] * x[i];
          long double b = p.beta == 0 ? 0 : static_cast<long double>(p.beta) * y0[i];
          long double allowed =
              1.01L * (4 * 0x1p-53L * (std::abs(a) + std::abs(b)) + this->u * std::abs(a + b));
          ASSERT_LE(std::abs(got[i] - (a + b)), allowed) << i;
        }
        EXPECT_TRUE(gy.untouched());
      }
}

TYPED_TEST(KernelsBasic, MultiplyDot) {  // z = d o r, rho = <r, z>
  using T = typename TestFixture::T;
  for (std::size_t n : sizes) {
    auto d = this->values(n, 11), r = this->values(n, 12);
    Guarded<T> gd(this->ctx(), d), gr(this->ctx(), r), z(this->ctx(), std::vector<double>(n, nan));
    There<double> rho(this->ctx(), nan);
    submit(this->ctx(), MultiplyDot<T>{static_cast<std::int64_t>(n), 1, gd.data(), gr.data(),
                                       z.data(), rho.data()});
    auto got = z.get();
    long double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(got[i], rounded<T>(d[i] * r[i])) << i;
      exact += static_cast<long double>(r[i]) * d[i] * r[i];
      magnitude += std::abs(static_cast<long double>(r[i]) * d[i] * r[i]);
    }
    EXPECT_LE(std::abs(rho.get() - exact), sum_bound(n + 2, magnitude));
    EXPECT_TRUE(z.untouched());
    EXPECT_TRUE(gr.unchanged() && gd.unchanged());
  }
}

/// ||A||_inf: rows of one share (4096 entries), of several, of none, in turn.
TYPED_TEST(KernelsBasic, NormInf) {
  using T = typename TestFixture::T;
  std::vector<Named> list = adversarial();
  list.push_back({"long rows", random_matrix(40, 9000, 8000, 3)});
  list.push_back({"mixed rows", mixed_rows(60, 5000, 4)});
  Csr<double> a;
  for (Index entries : {4096, 4097, 12288}) {
    a = {3, entries, {0, 0, entries, entries + 1}, {}, std::vector<double>(entries + 1, 0.25)};
    for (Index j = 0; j < a.cols; ++j) a.columns.push_back(j);
    a.columns.push_back(0);
    list.push_back({cat("a row of ", entries), a});
  }
  for (double odd : {std::numeric_limits<double>::infinity(), nan}) {
    a.values[2500] = odd;
    list.push_back({cat("with ", odd), a});
  }
  for (Named const& m : list) {
    SCOPED_TRACE(m.name);
    Csr<T> typed{m.matrix.rows, m.matrix.cols, m.matrix.offsets, m.matrix.columns, {}};
    for (double v : m.matrix.values) typed.values.push_back(T(v));
    CsrStorage<T> there(this->ctx(), typed);
    long double exact = 0;
    for (Index i = 0; i < typed.rows; ++i) {
      long double row = 0;
      for (T v : typed.row_values(i)) row += std::abs(static_cast<long double>(v));
      if (!std::isnan(double(exact)) && !(row <= exact)) exact = row;
    }
    double got = norm_inf(this->ctx(), there.view());
    if (std::isfinite(double(exact)))
      EXPECT_NEAR(got, double(exact), 1e-12 * double(exact));
    else
      EXPECT_TRUE(std::isnan(double(exact)) ? std::isnan(got) : got == double(exact)) << got;
  }
}

}  // namespace
}  // namespace tcsolve::test
