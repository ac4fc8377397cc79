// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/number_parse.hpp>
#include <tcsolve/io/hash.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tcsolve {
namespace {

/// The number in `text`; expects that it is one, and that it is read to its end.
double number(std::string const& text) {
  std::string const line = text + "\n";
  char const* p = line.data();
  double value = -12345;
  EXPECT_EQ(parse_real(p, value), Parsed::number) << text;
  EXPECT_EQ(p, line.data() + text.size()) << text;
  return value;
}

Parsed kind(std::string const& text) {
  std::string const line = text + "\n";
  char const* p = line.data();
  double value;
  return parse_real(p, value);
}

/// Equal bits, so that -0 differs from 0.
void expect_as_strtod(std::string const& text) {
  double const expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(number(text)), std::bit_cast<std::uint64_t>(expected))
      << text;
}

TEST(NumberParse, RoundsLikeStrtodOnHardCases) {
  for (char const* text : {"0",
                           "-0",
                           "0.0",
                           "1",
                           "-1",
                           "+1.5",
                           ".5",
                           "5.",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "9007199254740993",
                           "9007199254740993.0000001",
                           "9007199254740992999",
                           "1e-27",
                           "3e27",
                           "18446744073709551615",
                           "9999999999999999999",
                           "123456789012345678901234567890",
                           "1e308",
                           "1.7976931348623157e308",
                           "2.2250738585072011e-308",
                           "4.9406564584124654e-324",
                           "2.5e-324",
                           "1e-400",
                           "-1e-999999999999",
                           "0e999999999999",
                           "0.1",
                           "0.30000000000000004",
                           "8.988465674311579e307",
                           "1448997445238699",
                           "0.000000000000000000000000000001",
                           "1e+05",
                           "1E5",
                           "00000000000000000000000000001.5"})
    expect_as_strtod(text);
}

TEST(NumberParse, FortranExponents) {
  EXPECT_EQ(number("1.5D+03"), 1500);
  EXPECT_EQ(number("-1.5d-200"), -1.5e-200);
  // An exponent of three digits leaves no room for the letter.
  EXPECT_EQ(number("2.5-101"), 2.5e-101);
  EXPECT_EQ(number("-4.0+000"), -4);
  EXPECT_EQ(number("5.687138413593-304"), 5.687138413593e-304);
  EXPECT_EQ(number("0.12345678901234567890+103"), 0.12345678901234567890e103);
  for (char const* text : {"1-", "1+", "1+-1", "12345678901234567890.5-"})
    EXPECT_EQ(kind(text), Parsed::malformed) << text;
}

TEST(NumberParse, WhatIsNotAFiniteNumber) {
  for (char const* text : {"nan", "-nan", "inf", "+Infinity"})
    EXPECT_EQ(kind(text), Parsed::nonfinite) << text;
  std::string const digits(400, '9');
  for (std::string const& text :
       {std::string("1e309"), std::string("-1e999999999999999999999"), digits})
    EXPECT_EQ(kind(text), Parsed::out_of_range) << text;
  for (char const* text :
       {"", "-", "+", ".", "e5", "1e", "1e+", "--1", "+-1", "-+1", "x", "infx", "1dx"})
    EXPECT_EQ(kind(text), Parsed::malformed) << text;
}

TEST(NumberParse, RangeIsJudgedByMagnitudeNotByTheExponentAlone) {
  EXPECT_EQ(kind("1" + std::string(800, '0') + "e-300"), Parsed::out_of_range);
  EXPECT_EQ(number("0." + std::string(800, '0') + "1e300"), 0);
  EXPECT_EQ(number("1" + std::string(800, '0') + "e-800"), 1);
}

TEST(NumberParse, RoundsLikeStrtodOnRandomNumbers) {
  char text[64];
  for (std::uint64_t key = 0; key < 300'000; ++key) {
    std::uint64_t const bits = mix(key);
    int const precision = static_cast<int>(mix(key + 1) % 18);
    double const magnitude = std::ldexp(1 + uniform(key), static_cast<int>(bits % 200) - 100);
    std::snprintf(text, sizeof text, key % 2 ? "%.*e" : "%.*g", precision, magnitude);
    expect_as_strtod(text);
    double const any = std::bit_cast<double>(bits);
    if (!std::isfinite(any)) continue;
    std::snprintf(text, sizeof text, "%.17g", any);
    expect_as_strtod(text);
  }
}

/// Decimals half way between doubles, and one unit of the last place beside it: m 10^q, m in 64
/// bits.
TEST(NumberParse, RoundsLikeStrtodBesideTies) {
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    std::uint64_t const tie = (mix(key) >> 11 << 1 | 1) << (mix(key + 7) % 10);
    int const q = static_cast<int>(mix(key + 9) % 55) - 27;
    for (std::uint64_t const m : {tie - 1, tie, tie + 1}) {
      expect_as_strtod(std::to_string(m));
      expect_as_strtod(cat(m, "e", q));
    }
  }
}

}  // namespace
}  // namespace tcsolve
