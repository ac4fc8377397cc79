// SPDX-License-Identifier: Apache-2.0
/// binary16 against an independent reference: the 65536 values computed from the definition, and
/// rounding by search among them.
#include <tcsolve/core/half.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tcsolve::test {
namespace {

/// IEEE 754-2019, table 3.5: binary16 has 5 bits of exponent with bias 15 and 10 of fraction.
double value_of(std::uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 31
                         ? (fraction ? std::nan("") : std::numeric_limits<double>::infinity())
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Nearest of the 31744 finite magnitudes, ties to the even one; 65520 and above become infinite.
std::uint16_t nearest(double d) {
  static std::vector<double> const magnitudes = [] {
    std::vector<double> all;
    for (int bits = 0; bits < 0x7c00; ++bits) all.push_back(value_of(bits));
    return all;
  }();
  std::uint16_t sign = std::signbit(d) ? 0x8000 : 0;
  double m = std::abs(d);
  if (m >= 65520) return sign | 0x7c00;
  auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), m);  // first >= m
  if (above == magnitudes.end()) return sign | 0x7bff;
  auto bits = static_cast<std::uint16_t>(above - magnitudes.begin());
  if (*above == m) return sign | bits;
  double up = *above - m, down = m - *(above - 1);  // exact: neighbours of a double of this size
  if (up < down || (up == down && bits % 2 == 0)) return sign | bits;
  return sign | (bits - 1);
}

TEST(CoreHalf, AllValuesWidenExactly) {
  for (int bits = 0; bits < 65536; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    double expected = value_of(h.bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(double(h)) && std::isnan(float(h))) << bits;
      ASSERT_TRUE(std::isnan(float(half(float(h)))) && std::isnan(double(half(double(h))))) << bits;
      continue;
    }
    ASSERT_EQ(double(h), expected) << bits;
    ASSERT_EQ(std::signbit(float(h)), bits >= 32768) << bits;
    ASSERT_EQ(half(float(h)).bits, bits) << "there and back";
    ASSERT_EQ(half(double(h)).bits, bits) << "there and back";
  }
}

void check(double d) {
  ASSERT_EQ(half(d).bits, nearest(d)) << std::hexfloat << "double " << d;
  auto f = static_cast<float>(d);
  ASSERT_EQ(half(f).bits, nearest(f)) << std::hexfloat << "float " << f;
}

TEST(CoreHalf, RoundsToNearestEvenEverywhereBetweenNeighbours) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    double low = value_of(bits), high = value_of(bits + 1), middle = (low + high) / 2;
    for (double d : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9),
                     double(std::nextafterf(float(middle), 0.0f)),
                     double(std::nextafterf(float(middle), 1e9f)), std::nextafter(low, 1e9),
                     std::nextafter(high, 0.0)})
      for (double s : {d, -d}) {
        check(s);
        if (HasFatalFailure()) return;
      }
  }
}

TEST(CoreHalf, DoublesAreRoundedOnce) {
  // 1 + 2^-11 is a tie; a little more must go up, although float(d) is the tie again.
  double d = 1 + 0x1p-11 + 0x1p-40;
  ASSERT_EQ(static_cast<float>(d), 1 + 0x1p-11f);
  EXPECT_EQ(half(d).bits, 0x3c01);
  EXPECT_EQ(half(-d).bits, 0xbc01);
  EXPECT_EQ(half(1 + 0x1p-11 - 0x1p-40).bits, 0x3c00);
  EXPECT_EQ(half(1 + 3 * 0x1p-11 - 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(half(0x1p-25 + 0x1p-70).bits, 0x0001);  // half of the smallest, and a little
  EXPECT_EQ(half(0x1p-25).bits, 0x0000);
  EXPECT_EQ(half(65520 - 1e-9).bits, 0x7bff);
  EXPECT_EQ(half(65520.0).bits, 0x7c00);
}

TEST(CoreHalf, RandomFloatsAndDoubles) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 300000; ++i) {
    std::uint64_t u = bits();
    auto f = std::bit_cast<float>(static_cast<std::uint32_t>(u));  // any exponent
    if (!std::isnan(f)) { ASSERT_EQ(half(f).bits, nearest(f)) << std::hexfloat << f; }
    int exponent = static_cast<int>(u % 48) - 28;  // the range of half and a little around it
    check(std::ldexp(1 + double(u >> 12) * 0x1p-52, exponent) * (u & 2048 ? 1 : -1));
    if (HasFatalFailure()) return;
  }
}

TEST(CoreHalf, EndsOfTheRange) {
  double const inf = std::numeric_limits<double>::infinity();
  for (double d : {0.0, -0.0, 65504.0, 65519.99, 65520.0, 1e5, 3.5e38, 1e300, inf, 5e-324, 1e-300,
                   1e-45, 2.9e-8, 2.99e-8, 5.9e-8, 6.1e-5, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(half(d).bits, nearest(d)) << d;
    EXPECT_EQ(half(-d).bits, nearest(-d)) << d;
  }
  EXPECT_TRUE(std::isnan(float(half(std::nan("")))));
  EXPECT_TRUE(std::isnan(float(half(std::nanf("")))));
}

}  // namespace
}  // namespace tcsolve::test
