// SPDX-License-Identifier: Apache-2.0
/// Numbers out of text, exactly rounded and fast.
///
/// A cursor `p` is moved past what was read. The text must hold a byte that belongs to no number
/// (here the '\n' that ends every block) at its end: that is what stops the scan.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>

namespace tcsolve {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

inline char const* skip_blanks(char const* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// The decimal digits at p as a number; anything of 19 digits or more yields 10^18, which is beyond
/// every index. False when there is no digit.
inline bool parse_count(char const*& p, std::uint64_t& n) {
  char const* const start = p;
  std::uint64_t value = 0;
  for (; is_digit(*p); ++p) value = 10 * value + static_cast<std::uint64_t>(*p - '0');
  n = p - start < 19 ? value : 1'000'000'000'000'000'000u;
  return p != start;
}

namespace detail {

__extension__ typedef unsigned __int128 Wide;

inline constexpr int max_exact_power = 27;  // 5^27 < 2^64
inline constexpr auto powers_of_five = [] {
  std::array<std::uint64_t, max_exact_power + 1> power{1};
  for (std::size_t i = 1; i < power.size(); ++i) power[i] = 5 * power[i - 1];
  return power;
}();

/// 2^e, for e that gives a normal number.
inline double two_to(int e) { return std::bit_cast<double>(std::uint64_t(1023 + e) << 52); }

/// m 10^q rounded to nearest, ties to even; |q| <= 27. All integer until the one rounding.
inline double decimal(std::uint64_t m, int q) {
  constexpr std::uint64_t exact = std::uint64_t{1} << 53;
  constexpr std::array<double, 23> ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (m <= exact && -22 <= q && q <= 22) {  // both are doubles: one operation, one rounding
    double const value = static_cast<double>(m);
    return q < 0 ? value / ten[static_cast<std::size_t>(-q)]
                 : value * ten[static_cast<std::size_t>(q)];
  }
  if (m == 0) return 0;
  if (q >= 0)
    return static_cast<double>(Wide{m} * powers_of_five[static_cast<std::size_t>(q)]) * two_to(q);
  // m / 5^n: with both shifted to have their top bit set, the quotient has 63 or 64 bits. A bit
  // that stands for "there is a remainder" below those 53 that stay makes the rounding that of m /
  // 5^n.
  int const n = -q;
  std::uint64_t const five = powers_of_five[static_cast<std::size_t>(n)];
  int const up = std::countl_zero(m), down = std::countl_zero(five);
  Wide const top = Wide{m << up} << 63, bottom = five << down;
  auto quotient = static_cast<std::uint64_t>(top / bottom);
  if (Wide{quotient} * bottom != top) quotient |= 1;
  return static_cast<double>(quotient) * two_to(down - up - 63 - n);
}

}  // namespace detail

enum class Parsed {
  number,
  nonfinite,     ///< "nan", "inf", "infinity" with any sign and case
  out_of_range,  ///< a decimal number beyond 1.8e308
  malformed,
};

namespace detail {

/// floor(log10 |x|) + 1 of a nonzero decimal number, from its text: which way it left the range.
inline long long decimal_magnitude(std::string const& text) {
  auto const end = std::min(text.find_first_of("eE"), text.size());
  auto const point = std::min(text.find('.'), end);
  auto const leading = text.find_first_of("123456789");
  long long exponent = 0;
  if (end < text.size()) {
    char const* const from = text.data() + end + 1 + (text[end + 1] == '+');
    auto const read = std::from_chars(from, text.data() + text.size(), exponent);
    if (read.ec != std::errc{}) exponent = *from == '-' ? -1'000'000'000'000 : 1'000'000'000'000;
    exponent = std::clamp(exponent, -1'000'000'000'000LL, 1'000'000'000'000LL);
  }
  return static_cast<long long>(point) - static_cast<long long>(leading) + exponent;
}

/// The cases that the fast scans leave: many digits, large exponents, names. p stands at the start.
[[gnu::noinline]] inline Parsed parse_real_slow(char const*& p, double& value) {
  char const* end = p;
  while (!is_blank(*end) && *end != '\n' && *end != '\0') ++end;
  std::string text(p, end);
  if (text.starts_with('+')) text.erase(0, 1);  // from_chars takes no '+' ...
  if (text.size() + 1 == static_cast<std::size_t>(end - p) && text.starts_with('-'))
    return Parsed::malformed;  // ... and "+-1" is no number
  auto const first = std::min<std::size_t>(text.starts_with('-'), text.size());
  bool const letters = first < text.size() && !is_digit(text[first]) && text[first] != '.';
  if (!letters) {  // Fortran writes 1.5D+03, and 1.5-103 where the exponent has three digits
    if (auto const d = text.find_first_of("dD"); d != std::string::npos) text[d] = 'e';
    auto const sign = text.find_first_of("+-", first + 1);
    if (sign != std::string::npos && (is_digit(text[sign - 1]) || text[sign - 1] == '.'))
      text.insert(sign, 1, 'e');
  }
  char const* const stop = text.data() + text.size();
  auto const read = std::from_chars(text.data(), stop, value);
  if (read.ec == std::errc::invalid_argument || read.ptr != stop) return Parsed::malformed;
  p = end;
  if (letters) return Parsed::nonfinite;
  if (read.ec == std::errc::result_out_of_range) {
    if (decimal_magnitude(text) > 0) return Parsed::out_of_range;
    value = first == 1 ? -0.0 : 0.0;
  }
  return std::isinf(value) ? Parsed::out_of_range : Parsed::number;
}

}  // namespace detail

/// A real number at p in the syntax of C ("1", "-.5", "+2.e-3", "nan", "inf") or Fortran
/// ("1.5D+03", "1.5-103"), rounded to the nearest double; numbers below the smallest subnormal
/// become 0.
inline Parsed parse_real(char const*& p, double& value) {
  char const* s = p;
  bool const negative = *s == '-';
  if (negative || *s == '+') ++s;
  std::uint64_t m = 0;
  char const* const digits = s;
  for (; is_digit(*s); ++s) m = 10 * m + static_cast<std::uint64_t>(*s - '0');
  auto count = s - digits;
  int q = 0;
  if (*s == '.') {
    char const* const fraction = ++s;
    for (; is_digit(*s); ++s) m = 10 * m + static_cast<std::uint64_t>(*s - '0');
    q = static_cast<int>(fraction - s);
    count += s - fraction;
  }
  if (count == 0 || count > 19) return detail::parse_real_slow(p, value);  // 10^19 < 2^64
  char const letter = static_cast<char>(*s | 0x20);
  if (letter == 'e' || letter == 'd' || *s == '+' ||
      *s == '-') {  // 5.7-304: three digits, no letter
    if (letter == 'e' || letter == 'd') ++s;
    bool const below = *s == '-';
    if (below || *s == '+') ++s;
    if (!is_digit(*s)) return Parsed::malformed;
    int e = 0;
    for (; is_digit(*s); ++s)
      if (e < 10000) e = 10 * e + (*s - '0');
    q += below ? -e : e;
  }
  if (q < -detail::max_exact_power || q > detail::max_exact_power)
    return detail::parse_real_slow(p, value);
  double const magnitude = detail::decimal(m, q);
  value = negative ? -magnitude : magnitude;
  p = s;
  return Parsed::number;
}

/// An integer with an optional sign, rounded to the nearest double when beyond 2^53.
inline Parsed parse_integer(char const*& p, double& value) {
  char const* s = p;
  if (*s == '-' || *s == '+') ++s;
  if (!is_digit(*s))  // "nan" is told apart from garbage
    return detail::parse_real_slow(p, value) == Parsed::nonfinite ? Parsed::nonfinite
                                                                  : Parsed::malformed;
  while (is_digit(*s)) ++s;
  return is_blank(*s) || *s == '\n' ? parse_real(p, value) : Parsed::malformed;
}

}  // namespace tcsolve
