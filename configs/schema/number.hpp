// SPDX-License-Identifier: Apache-2.0
/// Numbers to and from text, the same in every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tcsolve {

enum class Parsed { ok, malformed, too_large };

/// Reads the whole of `text`: decimal digits with an optional sign, and for double also a point, an
/// exponent, `.inf` and `-.inf`. `value` is written only when the answer is ok; too_large means
/// that the number does not fit T (for double: overflows, or underflows to less than any double).
template <class T>
Parsed parse_number(std::string_view text, T& value);
extern template Parsed parse_number(std::string_view, int&);
extern template Parsed parse_number(std::string_view, std::int64_t&);
extern template Parsed parse_number(std::string_view, std::uint64_t&);
extern template Parsed parse_number(std::string_view, double&);

/// The shortest text from which parse_number() gets the same value; infinity is `.inf`.
template <class T>
std::string number_text(T value);
extern template std::string number_text(int);
extern template std::string number_text(std::int64_t);
extern template std::string number_text(std::uint64_t);
extern template std::string number_text(double);

}  // namespace tcsolve
