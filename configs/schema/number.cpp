// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/number.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <type_traits>

namespace tcsolve {

template <class T>
Parsed parse_number(std::string_view text, T& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return Parsed::malformed;
  }
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if constexpr (std::is_same_v<T, double>) {
    if (digits == ".inf") {
      double const infinity = std::numeric_limits<double>::infinity();
      value = digits.size() == text.size() ? infinity : -infinity;
      return Parsed::ok;
    }
    if (digits.starts_with('.')) digits.remove_prefix(1);
  }
  // from_chars also knows "inf" and "nan", which are not numbers in YAML.
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return Parsed::malformed;
  // A sign before an unsigned number is a number, though one that does not fit.
  bool const negative = digits.data() != text.data() && text[0] == '-';
  if (std::is_unsigned_v<T> && negative) text.remove_prefix(1);
  T parsed{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (end != text.data() + text.size()) return Parsed::malformed;
  if (error == std::errc::result_out_of_range) return Parsed::too_large;
  if (error != std::errc{}) return Parsed::malformed;
  if (std::is_unsigned_v<T> && negative && parsed != T{}) return Parsed::too_large;
  value = parsed;
  return Parsed::ok;
}

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  }
  char buffer[64];
  auto const [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc{} ? std::string(buffer, end) : std::string();
}

template Parsed parse_number(std::string_view, int&);
template Parsed parse_number(std::string_view, std::int64_t&);
template Parsed parse_number(std::string_view, std::uint64_t&);
template Parsed parse_number(std::string_view, double&);
template std::string number_text(int);
template std::string number_text(std::int64_t);
template std::string number_text(std::uint64_t);
template std::string number_text(double);

}  // namespace tcsolve
