// SPDX-License-Identifier: Apache-2.0
/// The types of 16 bits against an independent reference: the 65536 values computed from the
/// definition, and rounding by search among them.
#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/host/widen.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tcsolve::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// IEEE 754-2019, section 3.4: a sign, so many bits of exponent and of fraction. Table 3.5 has
/// binary16; bfloat16 is binary32 without its last 16 bits.
template <class S, int exponent_bits, int fraction_bits>
struct Interchange {
  using Type = S;
  static constexpr int fraction = fraction_bits, bias = (1 << (exponent_bits - 1)) - 1,
                       top = (1 << exponent_bits) - 1;    // the exponent of Inf and NaN
  static constexpr int infinity = top << fraction_bits;   // as bits
  static constexpr int least = 1 - bias - fraction_bits;  // the smallest number is 2^least
  static double smallest() { return std::ldexp(1, least); }
  /// What is as far from the largest number as from the next, if there were one.
  static double limit() { return std::ldexp((4 << fraction) - 1, bias - fraction - 1); }

  static double value_of(int bits) {
    int exponent = bits >> fraction & top, rest = bits & ((1 << fraction) - 1);
    double magnitude = exponent == top ? (rest != 0 ? std::nan("") : inf)
                       : exponent == 0
                           ? std::ldexp(rest, least)
                           : std::ldexp((1 << fraction) + rest, exponent - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
  }

  /// Nearest of the finite magnitudes, ties to the even one; from `limit` on infinite.
  static int nearest(double d) {
    static std::vector<double> const magnitudes = [] {
      std::vector<double> all;
      for (int bits = 0; bits < infinity; ++bits) all.push_back(value_of(bits));
      return all;
    }();
    int sign = std::signbit(d) ? 0x8000 : 0;
    double m = std::abs(d);
    if (m >= limit()) return sign | infinity;
    auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), m);  // first >= m
    if (above == magnitudes.end()) return sign | (infinity - 1);
    auto bits = static_cast<int>(above - magnitudes.begin());
    if (*above == m) return sign | bits;
    double up = *above - m, down = m - *(above - 1);  // exact: neighbours of a double of this size
    if (up < down || (up == down && bits % 2 == 0)) return sign | bits;
    return sign | (bits - 1);
  }
};

struct Binary16 : Interchange<half, 5, 10> {
  static std::string label() { return "half"; }
};
struct Bfloat16 : Interchange<bfloat16, 8, 7> {
  static std::string label() { return "bfloat16"; }
};

template <class R>
class CoreHalf : public ::testing::Test {
 public:
  using S = typename R::Type;
  static void check(double d) {
    ASSERT_EQ(S(d).bits, R::nearest(d)) << std::hexfloat << "double " << d;
    auto f = static_cast<float>(d);
    ASSERT_EQ(S(f).bits, R::nearest(f)) << std::hexfloat << "float " << f;
  }
};
struct Named {
  template <class R>
  static std::string GetName(int) {
    return R::label();
  }
};
using Types = ::testing::Types<Binary16, Bfloat16>;
TYPED_TEST_SUITE(CoreHalf, Types, Named);

TYPED_TEST(CoreHalf, AllValuesWidenExactly) {
  using S = typename TestFixture::S;
  for (int bits = 0; bits < 65536; ++bits) {
    S h;
    h.bits = static_cast<std::uint16_t>(bits);
    double expected = TypeParam::value_of(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(double(h)) && std::isnan(float(h))) << bits;
      ASSERT_TRUE(std::isnan(float(S(float(h)))) && std::isnan(double(S(double(h))))) << bits;
      continue;
    }
    ASSERT_EQ(double(h), expected) << bits;
    ASSERT_EQ(std::signbit(float(h)), bits >= 32768) << bits;
    ASSERT_EQ(S(float(h)).bits, bits) << "there and back";
    ASSERT_EQ(S(double(h)).bits, bits) << "there and back";
  }
}

TYPED_TEST(CoreHalf, LoopsOfTheHostWidenToTheSameBits) {
  using S = typename TestFixture::S;
  for (int bits = 0; bits < 65536; ++bits) {
    S h;
    h.bits = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(host::widen<float>(h)),
              std::bit_cast<std::uint32_t>(float(h)))
        << bits;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(host::widen<double>(h)),
              std::bit_cast<std::uint64_t>(double(h)))
        << bits;
  }
}

TYPED_TEST(CoreHalf, RoundsToNearestEvenEverywhereBetweenNeighbours) {
  for (int bits = 0; bits + 1 < TypeParam::infinity; ++bits) {
    double low = TypeParam::value_of(bits), high = TypeParam::value_of(bits + 1),
           middle = (low + high) / 2;
    for (double d : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, inf),
                     double(std::nextafterf(float(middle), 0.0f)),
                     double(std::nextafterf(float(middle), float(inf))), std::nextafter(low, inf),
                     std::nextafter(high, 0.0)})
      for (double s : {d, -d}) {
        this->check(s);
        if (this->HasFatalFailure()) return;
      }
  }
}

TYPED_TEST(CoreHalf, DoublesAreRoundedOnce) {
  using S = typename TestFixture::S;
  // A tie; a little more must go up, although as a float it is the tie again.
  double const ulp = std::ldexp(1, -TypeParam::fraction), tie = 1 + ulp / 2, little = 0x1p-40;
  int const one = TypeParam::nearest(1), minus = 0x8000;
  ASSERT_EQ(static_cast<float>(tie + little), tie);
  EXPECT_EQ(S(tie).bits, one);
  EXPECT_EQ(S(tie + little).bits, one + 1);
  EXPECT_EQ(S(-tie - little).bits, minus | (one + 1));
  EXPECT_EQ(S(tie - little).bits, one);
  EXPECT_EQ(S(tie + ulp).bits, one + 2);
  EXPECT_EQ(S(tie + ulp - little).bits, one + 1);
  double const smallest = TypeParam::smallest(), limit = TypeParam::limit();
  EXPECT_EQ(S(smallest / 2 * (1 + 0x1p-45)).bits, 1);
  EXPECT_EQ(S(smallest / 2).bits, 0);
  EXPECT_EQ(S(std::nextafter(limit, 0)).bits, TypeParam::infinity - 1);
  EXPECT_EQ(S(limit).bits, TypeParam::infinity);
}

TYPED_TEST(CoreHalf, RandomFloatsAndDoubles) {
  using S = typename TestFixture::S;
  std::mt19937_64 bits(1);
  // The range of the type and a little around it.
  int const from = TypeParam::least - 4, span = 2 * TypeParam::bias + TypeParam::fraction + 8;
  for (int i = 0; i < 300000; ++i) {
    std::uint64_t u = bits();
    auto f = std::bit_cast<float>(static_cast<std::uint32_t>(u));  // any exponent
    if (!std::isnan(f)) { ASSERT_EQ(S(f).bits, TypeParam::nearest(f)) << std::hexfloat << f; }
    int exponent = static_cast<int>(u % static_cast<unsigned int>(span)) + from;
    this->check(std::ldexp(1 + double(u >> 12) * 0x1p-52, exponent) * (u & 2048 ? 1 : -1));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(CoreHalf, EndsOfTheRange) {
  using S = typename TestFixture::S;
  for (double d : {0.0,
                   -0.0,
                   65504.0,
                   65519.99,
                   65520.0,
                   1e5,
                   3.38e38,
                   3.3895e38,
                   3.396e38,
                   3.4e38,
                   3.5e38,
                   1e300,
                   inf,
                   5e-324,
                   1e-300,
                   1e-45,
                   4.5e-41,
                   4.7e-41,
                   9.2e-41,
                   1.17e-38,
                   2.9e-8,
                   2.99e-8,
                   5.9e-8,
                   6.1e-5,
                   double(std::numeric_limits<float>::max()),
                   std::numeric_limits<double>::max()}) {
    EXPECT_EQ(S(d).bits, TypeParam::nearest(d)) << d;
    EXPECT_EQ(S(-d).bits, TypeParam::nearest(-d)) << d;
  }
}

/// Where only bits that are cut off say so, and where rounding up would carry into the sign.
TYPED_TEST(CoreHalf, NaNStaysNaN) {
  using S = typename TestFixture::S;
  for (std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7f80ffffu, 0x7fc00000u, 0x7fffffffu,
                             0xffffffffu, 0xffff8000u}) {
    auto f = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(float(S(f)))) << std::hex << bits;
    EXPECT_TRUE(std::isnan(double(S(double(f))))) << std::hex << bits;
  }
  auto d = std::bit_cast<double>(0x7ff0000000000001u);
  EXPECT_TRUE(std::isnan(float(S(d)))) << "a float has not the bit that says so";
}

}  // namespace
}  // namespace tcsolve::test
