// SPDX-License-Identifier: Apache-2.0
/// Numbers from a stream of bytes. Every fault names the file and the byte.
#pragma once

#include <tcsolve/core/types.hpp>
#include <tcsolve/io/files/byte_source.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tcsolve {

/// How a number lies in a file.
struct NumberType {
  char kind = 'f';  ///< f: IEEE 754; i: two's complement; u: unsigned; b: true or false
  int bytes = 8;    ///< 1, 2, 4 or 8
  std::endian order = std::endian::little;
};

class BinaryReader {
 public:
  BinaryReader(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  std::string const& name() const { return name_; }
  /// Bytes read so far.
  std::int64_t position() const { return position_; }

  /// Fills `out`; returns how many bytes there were before the end of the file.
  std::size_t some(std::span<char> out);
  /// Fills `out`. Throws MatrixError where the file ends before: `what` is missing.
  void all(std::span<char> out, std::string const& what);

  /// Passes over bytes. Throws MatrixError where the file ends before.
  void skip(std::int64_t bytes, std::string const& what);

  /// One integer.
  std::int64_t integer(NumberType type, std::string const& what);
  /// `count` integers, each from 0 to `most`: "<name>: <what>[3] = -1 is outside 0 .. 7". Places
  /// are counted from `first`.
  template <class T>
  std::vector<T> integers(NumberType type, std::int64_t count, T most, std::string const& what,
                          std::int64_t first = 0);
  /// `count` numbers, widened or rounded to double. Infinity and NaN are refused, by place, unless
  /// `nonfinite`.
  std::vector<double> reals(NumberType type, std::int64_t count, bool nonfinite,
                            std::string const& what, std::int64_t first = 0);
  /// Throws MatrixError where `count` numbers of `bytes` bytes are more than the file can hold,
  /// whatever it is compressed by, so that no memory is taken because a header says so.
  void require(std::int64_t count, std::int64_t bytes, std::string const& what) const;

  /// Throws MatrixError "<name>: byte <position>: <what>".
  [[noreturn]] void fail(std::string const& what) const;

 private:
  template <class F>
  void each(NumberType type, std::int64_t count, std::string const& what, F const& f);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::int64_t position_ = 0;
};

}  // namespace tcsolve
