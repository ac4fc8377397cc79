// SPDX-License-Identifier: Apache-2.0
/// Sums and maxima: error bounds, NaN, the range of norm(), and the same bits on every run.
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::size_t sizes[] = {0, 1, 31, 255, 256, 257, 4095, 4096, 4097, 100000};

struct Sum {
  long double value = 0, magnitude = 0;
  std::size_t n;
  Sum(std::vector<double> const& x, std::vector<double> const& y) : n(x.size()) {
    for (std::size_t i = 0; i < n; ++i) {
      value += static_cast<long double>(x[i]) * y[i];
      magnitude += std::abs(static_cast<long double>(x[i]) * y[i]);
    }
  }
  bool near(double got) const { return std::abs(got - value) <= sum_bound(n, magnitude); }
};

template <class P>
class KernelsReductions : public BackendTest<P> {
 public:
  using T = typename P::Value;
  std::vector<double> values(std::size_t n, std::uint64_t seed) {
    return rounded<T>(random_values(n, seed));
  }
  double dot_of(Guarded<T>& x, Guarded<T>& y) {
    There<double> sigma(this->ctx(), nan);
    dot<T>(this->ctx(), x.in(), y.in(), sigma.data());
    return sigma.get();
  }
  double max_of(std::vector<double> const& x) {
    Guarded<T> gx(this->ctx(), x);
    There<double> value(this->ctx(), nan);
    max_abs<T>(this->ctx(), gx.in(), value.data());
    return value.get();
  }
  double norm_of(std::vector<double> const& x) {
    Guarded<T> gx(this->ctx(), x);
    double value = norm<T>(this->ctx(), gx.in());
    EXPECT_TRUE(gx.unchanged());
    return value;
  }
};
TYPED_TEST_SUITE(KernelsReductions, RealsOnBoth, Label);

TYPED_TEST(KernelsReductions, DotAndDot2) {
  using T = typename TestFixture::T;
  std::vector<std::size_t> all(std::begin(sizes), std::end(sizes));
  all.push_back(1000000);
  for (std::size_t n : all) {
    SCOPED_TRACE(n);
    auto x = this->values(n, 1), y = this->values(n, 2);
    Guarded<T> gx(this->ctx(), x), gy(this->ctx(), y);
    Sum xy(x, y), yy(y, y);
    There<double> sigma(this->ctx(), nan), squares(this->ctx(), nan);
    EXPECT_TRUE(xy.near(this->dot_of(gx, gy)));
    dot2<T>(this->ctx(), gx.in(), gy.in(), sigma.data(), squares.data());
    EXPECT_TRUE(xy.near(sigma.get()));
    EXPECT_TRUE(yy.near(squares.get()));
    EXPECT_TRUE(gx.unchanged() && gy.unchanged());
  }
}

TYPED_TEST(KernelsReductions, EveryElementCountsOnce) {  // sums of integers are exact
  using T = typename TestFixture::T;
  for (std::size_t n : {1, 2, 255, 256, 257, 4095, 4096, 4097, 8192, 8193, 300001, 1000000}) {
    Guarded<T> ones(this->ctx(), std::vector<double>(n, 1));
    EXPECT_EQ(this->dot_of(ones, ones), double(n));
    std::vector<double> spike(n);
    for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      spike[at] = 3;
      Guarded<T> gs(this->ctx(), spike);
      EXPECT_EQ(this->dot_of(gs, ones), 3.0) << at << " of " << n;
      spike[at] = 0;
    }
  }
}

TYPED_TEST(KernelsReductions, FloatsAreSummedInDouble) {
  using T = typename TestFixture::T;
  std::vector<double> x(4097, 0x1p-15);
  x[0] = 1;
  Guarded<T> gx(this->ctx(), x), ones(this->ctx(), std::vector<double>(4097, 1));
  EXPECT_EQ(this->dot_of(gx, ones), 1.125);
  EXPECT_EQ(this->dot_of(gx, gx), 1 + 4096 * 0x1p-30);
}

TYPED_TEST(KernelsReductions, SameBitsOnEveryRun) {
  using T = typename TestFixture::T;
  for (std::size_t n : {4097, 100000, 1000000}) {
    Guarded<T> x(this->ctx(), this->values(n, 3)), y(this->ctx(), this->values(n, 4));
    auto first = std::bit_cast<std::uint64_t>(this->dot_of(x, y));
    for (int run = 0; run < 20; ++run)
      ASSERT_EQ(std::bit_cast<std::uint64_t>(this->dot_of(x, y)), first)
          << "run " << run << ", n " << n;
  }
}

TYPED_TEST(KernelsReductions, MaxAbs) {
  for (std::size_t n : sizes) {
    auto x = this->values(n, 5);
    double largest = 0;
    for (double v : x) largest = std::max(largest, std::abs(v));
    EXPECT_EQ(this->max_of(x), largest) << n;
    if (n == 0) continue;
    for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      auto spoiled = x;
      spoiled[at] = -7;
      EXPECT_EQ(this->max_of(spoiled), 7) << at << " of " << n;
      spoiled[at] = -inf;
      EXPECT_EQ(this->max_of(spoiled), inf) << at << " of " << n;
      spoiled[n - 1 - at] = nan;  // NaN wins, also over Inf, wherever it stands
      EXPECT_TRUE(std::isnan(this->max_of(spoiled))) << at << " of " << n;
    }
  }
  EXPECT_EQ(this->max_of({0, -0.0}), 0);
}

TYPED_TEST(KernelsReductions, NormNeitherOverflowsNorUnderflows) {
  bool wide = sizeof(typename TestFixture::T) == 8;
  EXPECT_EQ(this->norm_of({}), 0);
  EXPECT_EQ(this->norm_of(std::vector<double>(1000, 0)), 0);
  EXPECT_EQ(this->norm_of({3, -4}), 5);
  std::vector<double> scales =
      wide ? std::vector<double>{1, 1e200, 1e-200, 1e307, 1e-300, 1e-315, 1e-140, 1e140}
           : std::vector<double>{1, 1e37, 1e-37, 1e-43};
  for (double scale : scales)
    for (std::size_t n : {2, 100, 5000}) {
      auto x = this->values(n, 6);
      long double squares = 0;
      for (double& v : x) v = rounded<typename TestFixture::T>(v * scale);
      for (double v : x)
        squares += (static_cast<long double>(v) / scale) * (static_cast<long double>(v) / scale);
      long double exact = std::sqrt(squares) * scale;
      if (exact > std::numeric_limits<double>::max()) continue;
      EXPECT_NEAR(this->norm_of(x), double(exact), double(1e-13L * exact) + 5e-324)
          << scale << " n " << n;
    }
  if (!wide) return;
  EXPECT_EQ(this->norm_of({1e200, 1e-200}), 1e200);
  EXPECT_EQ(this->norm_of({5e-324}), 5e-324);
  EXPECT_EQ(this->norm_of({std::numeric_limits<double>::max(), 0}),
            std::numeric_limits<double>::max());
  EXPECT_EQ(this->norm_of({3 * 0x1p900, 4 * 0x1p900}), 5 * 0x1p900);
  EXPECT_EQ(this->norm_of({3 * 0x1p-1060, 4 * 0x1p-1060}), 5 * 0x1p-1060);
}

TYPED_TEST(KernelsReductions, NormPassesNonFiniteOn) {
  EXPECT_EQ(this->norm_of({1, -inf, 2}), inf);
  EXPECT_TRUE(std::isnan(this->norm_of({1, nan, 2})));
  EXPECT_TRUE(std::isnan(this->norm_of({inf, nan})));
  std::vector<double> x(5000, 1.0);
  x[4999] = nan;
  EXPECT_TRUE(std::isnan(this->norm_of(x)));
}

/// The small arrays of an Arnoldi step, `m` columns, in one There.
struct SmallArrays {
  SmallArrays(Context& ctx, Index m)
      : sums(ctx, std::vector<double>(2 * m + 1, -99)),
        h(ctx, std::vector<double>((m + 1) * m, 0)),
        scalars(ctx, std::vector<double>(4, -99)) {
    H.m = m;
    H.sums = sums.data();
    H.h = h.data();
    H.to_v = scalars.data();
    H.kappa = H.to_v + 1;
    H.to_u = H.to_v + 2;
    H.scale = H.to_v + 3;
  }
  Guarded<double> sums, h, scalars;
  Hessenberg H{};
};

TYPED_TEST(KernelsReductions, Gram) {  // [V u]^T [u w] for j columns of V, and <w, w>
  using T = typename TestFixture::T;
  for (Index n : {0, 1, 257, 4097, 20000})
    for (Index j : {0, 1, 6, 7, 8, 15, 16, 39}) {
      SCOPED_TRACE(cat("n ", n, ", j ", j));
      constexpr Index most = 40;
      auto V = this->values(static_cast<std::size_t>(n) * most, 7);
      auto u = this->values(n, 8), w = this->values(n, 9);
      Guarded<T> gV(this->ctx(), V), gu(this->ctx(), u), gw(this->ctx(), w);
      SmallArrays small(this->ctx(), most);
      There<double> partials(this->ctx(),
                             std::vector<double>((2 * most + 1) * gram_blocks(this->ctx()), nan));
      LoopState running;
      running.iteration = j;
      There<LoopState> state(this->ctx(), running);
      // These are no basis, and rho^2 may be anything: only the sums mean something.
      Gram<T> op{n, {gV.data(), n}, gu.data(), gw.data(), small.H, 0, 0, partials.data()};
      std::vector<double> room(most + 1, 1.0);  // for a candidate that is taken back
      There<double> R(this->ctx(), std::vector<double>(most * most, 1.0)), c(this->ctx(), room),
          s(this->ctx(), room), g(this->ctx(), room);
      op.H.R = R.data(), op.H.c = c.data(), op.H.s = s.data(), op.H.g = g.data();
      op.H.columns = op.H.to_v;
      this->ctx().within(state.data(), [&] { gram(this->ctx(), op); });
      auto got = small.sums.get();
      for (Index k = 0; k <= j; ++k) {
        std::vector<double> column(V.begin() + std::size_t(k) * n,
                                   V.begin() + std::size_t(k + 1) * n);
        auto const& left = k < j ? column : u;
        EXPECT_TRUE(Sum(left, u).near(got[2 * k])) << "column " << k << ": " << got[2 * k];
        EXPECT_TRUE(Sum(left, w).near(got[2 * k + 1])) << "column " << k << ": " << got[2 * k + 1];
      }
      EXPECT_TRUE(Sum(w, w).near(got[2 * j + 2])) << got[2 * j + 2];
      for (Index k = 2 * j + 3; k < 2 * most + 1; ++k)
        EXPECT_EQ(got[k], -99) << "sum " << k << " is not made yet";
      EXPECT_TRUE(small.sums.untouched());
      EXPECT_TRUE(small.h.untouched());
      state.set(running);
      this->ctx().within(state.data(), [&] { gram(this->ctx(), op); });
      EXPECT_EQ(small.sums.get(), got) << "same bits";
      fill(this->ctx(), small.sums.view(), 5);
      running.stop = static_cast<int>(Stop::diverged);
      state.set(running);
      this->ctx().within(state.data(), [&] { gram(this->ctx(), op); });
      EXPECT_EQ(small.sums.get(), std::vector<double>(2 * most + 1, 5)) << "a stopped loop";
    }
}

/// Prints bits in the child process, else compares those of children with 1, 2 and 3 threads.
TEST(KernelsThreads, HostSumsDoNotDependOnTheirNumber) {
  if (std::getenv("TCSOLVE_TEST_PRINT_SUMS") != nullptr) {
    Context ctx(Backend::host);
    auto x = random_values(1000003, 1, 0, 1), y = random_values(1000003, 2);
    There<double> gx(ctx, x), gy(ctx, y), sigma(ctx, 0.0), yy(ctx, 0.0);
    dot2<double>(ctx, gx.in(), gy.in(), sigma.data(), yy.data());
    std::printf("bits %a %a %a\n", sigma.get(), yy.get(), norm<double>(ctx, gx.in()));
    return;
  }
  std::array<char, 4096> self{};
  ASSERT_GT(readlink("/proc/self/exe", self.data(), self.size() - 1), 0);
  std::vector<std::string> bits;
  for (int threads : {1, 2, 3}) {
    std::string command =
        cat("env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX OMP_NUM_THREADS=", threads,
            " TCSOLVE_TEST_PRINT_SUMS=1 '", self.data(),
            "' --gtest_filter=KernelsThreads.HostSumsDoNotDependOnTheirNumber 2>&1");
    FILE* child = popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string all, line;
    for (std::array<char, 512> part{}; std::fgets(part.data(), part.size(), child) != nullptr;) {
      all += part.data();
      if (std::string(part.data()).rfind("bits ", 0) == 0) line = part.data();
    }
    ASSERT_EQ(pclose(child), 0) << all;
    ASSERT_FALSE(line.empty()) << all;
    bits.push_back(line);
  }
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
}

}  // namespace
}  // namespace tcsolve::test
