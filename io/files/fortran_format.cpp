// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/fortran_format.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_market_header.hpp>
#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tcsolve {
namespace {

constexpr int most = 10'000;  // fields on a line, characters of a field

/// The text without blanks, in capitals.
std::string tight(std::string_view text) {
  std::string out;
  for (char const c : text)
    if (!is_blank(c)) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// The digits at the front of `text` as a number, taken away; nothing where there is none.
std::optional<int> number(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits)
    value = std::min(most + 1, 10 * value + (text[digits] - '0'));
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

/// Takes `c` from the front where it is there.
bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<FortranFormat> FortranFormat::parse(std::string_view text) {
  std::string const kept = tight(text);
  std::string_view rest = kept;
  FortranFormat format;
  if (!take(rest, '(')) return std::nullopt;
  bool negative = take(rest, '-');
  auto count = number(rest);
  if (take(rest, 'P')) {
    if (!count) return std::nullopt;
    format.scale = negative ? -*count : *count;
    take(rest, ',');
    count = number(rest);
    negative = false;
  }
  bool const inner = take(rest, '(');
  if (inner && count && is_digit(rest.empty() ? '\0' : rest.front())) return std::nullopt;
  if (rest.empty() || negative) return std::nullopt;
  format.letter = rest.front();
  rest.remove_prefix(1);
  bool const real = std::string_view("EDFG").find(format.letter) != std::string_view::npos;
  if (format.letter != 'I' && !real) return std::nullopt;
  auto const width = number(rest);
  if (take(rest, '.')) {
    auto const decimals = number(rest);
    if (!decimals) return std::nullopt;
    format.decimals = real ? *decimals : 0;
    if (take(rest, 'E') && !number(rest)) return std::nullopt;
  }
  if ((inner && !take(rest, ')')) || rest != ")" || !width) return std::nullopt;
  format.per_line = count.value_or(1);
  format.width = *width;
  if (format.per_line < 1 || format.per_line > most || format.width < 1 || format.width > most)
    return std::nullopt;
  return format;
}

FortranFields::FortranFields(TextLines& lines, FortranFormat const& format, std::int64_t count,
                             std::string what)
    : lines_(lines), format_(format), left_(count), what_(std::move(what)) {}

std::string_view FortranFields::next() {
  if (at_ == fields_.size()) split(lines_.require(cat(left_, " more of the ", what_)));
  --left_;
  return fields_[at_++];
}

void FortranFields::split(std::string_view line) {
  auto const here = static_cast<std::size_t>(std::min<std::int64_t>(format_.per_line, left_));
  fields_.clear();
  at_ = 0;
  for (std::size_t begin = 0; fields_.size() <= here;) {
    begin = line.find_first_not_of(" \t", begin);
    if (begin == std::string_view::npos) break;
    std::size_t const end = std::min(line.find_first_of(" \t", begin), line.size());
    fields_.push_back(std::string(line.substr(begin, end - begin)) + '\n');
    begin = end;
  }
  if (fields_.size() == here) return;
  fields_.clear();
  auto const width = static_cast<std::size_t>(format_.width);
  for (std::size_t k = 0; k < here; ++k) {
    std::string field(line.substr(std::min(k * width, line.size()), width));
    std::size_t const first = field.find_first_not_of(" \t");
    if (first == std::string::npos)
      lines_.fail(cat("the line has ", k, " of ", here, " ", what_, " of ", width, " characters"));
    field = field.substr(first, field.find_last_not_of(" \t") + 1 - first);
    fields_.push_back(field + '\n');
  }
}

std::int64_t FortranFields::integer(std::int64_t least, std::int64_t most_allowed) {
  std::string_view const field = next();
  char const* p = field.data();
  std::uint64_t n = 0;
  if (!parse_count(p, n) || *p != '\n') fail(field, "is not a positive integer");
  auto const value = static_cast<std::int64_t>(n);
  if (value < least || value > most_allowed)
    fail(field, cat("is outside ", least, " .. ", most_allowed));
  return value;
}

double FortranFields::real(bool nonfinite) {
  std::string_view const field = next();
  char const* p = field.data();
  double value = 0;
  Parsed const parsed = parse_real(p, value);
  if (parsed == Parsed::out_of_range) fail(field, "is beyond the range of double (1.8e308)");
  if (parsed == Parsed::malformed || *p != '\n') fail(field, "is not a number");
  if (parsed == Parsed::nonfinite) {
    if (!nonfinite) fail(field, "is not finite (NaN or Inf)");
    return value;
  }
  if (value == 0) return value;
  bool const point = field.find('.') != std::string_view::npos;
  bool const exponent = field.find_first_of("eEdD+-", 1) != std::string_view::npos;
  if (!point && format_.letter != 'I' && format_.decimals > 0)
    fail(field, cat("has no decimal point: Fortran would put one before its last ",
                    format_.decimals, " digits; write it as a decimal number"));
  if (!exponent && format_.letter != 'I' && format_.scale != 0)
    fail(field, cat("has no exponent: Fortran would divide it by 10^", format_.scale,
                    ", as the format says; write it with one"));
  return value;
}

void FortranFields::fail(std::string_view field, std::string const& what) const {
  lines_.fail(cat(quoted(field), " among the ", what_, " ", what));
}

}  // namespace tcsolve
