// SPDX-License-Identifier: Apache-2.0
/// Fields of fixed width as Fortran writes them: (16I5), (1P,4E20.12), (3(D25.16)).
#pragma once

#include <tcsolve/io/files/text_lines.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

struct FortranFormat {
  int per_line = 1;   ///< fields on a line
  char letter = 'I';  ///< I, E, D, F or G
  int width = 1;      ///< characters of a field
  int decimals = 0;   ///< behind a point that a field does not write
  int scale = 0;      ///< 1P: a field without an exponent is a tenth of what it writes

  /// Nothing where `text` is no such format, or one that mixes fields.
  static std::optional<FortranFormat> parse(std::string_view text);
};

/// `count` fields, one after another. Where the words on a line are as many as it has fields, they
/// are taken, wherever they stand; else columns of `width`, which need no blank between them.
class FortranFields {
 public:
  FortranFields(TextLines& lines, FortranFormat const& format, std::int64_t count,
                std::string what);

  /// An integer from `least` to `most`.
  std::int64_t integer(std::int64_t least, std::int64_t most);
  /// A real. Infinity and NaN are refused unless `nonfinite`; so is a number without a decimal
  /// point where the format puts one into it, since most programs did not mean that.
  double real(bool nonfinite);

 private:
  std::string_view next();
  void split(std::string_view line);
  [[noreturn]] void fail(std::string_view field, std::string const& what) const;

  TextLines& lines_;
  FortranFormat format_;
  std::int64_t left_;
  std::string what_;
  std::vector<std::string> fields_;  // of this line, each with a '\n' behind it
  std::size_t at_ = 0;
};

}  // namespace tcsolve
