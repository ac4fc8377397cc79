// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/binary_reader.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tcsolve {
namespace {

constexpr std::int64_t chunk = 1 << 16;  // numbers converted at a time

/// The bits of a number of `bytes` bytes.
std::uint64_t bits_of(char const* at, NumberType type) {
  std::uint64_t bits = 0;
  for (int k = 0; k < type.bytes; ++k) {
    int const place = type.order == std::endian::little ? k : type.bytes - 1 - k;
    bits |= std::uint64_t{static_cast<unsigned char>(at[k])} << (8 * place);
  }
  return bits;
}

/// Two's complement of `bytes` bytes.
std::int64_t signed_of(std::uint64_t bits, int bytes) {
  int const unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// An unsigned number beyond int64 becomes the largest one, which no index reaches.
std::int64_t integer_of(char const* at, NumberType type) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t const bits = bits_of(at, type);
  if (type.kind == 'i') return signed_of(bits, type.bytes);
  return static_cast<std::int64_t>(std::min(bits, std::uint64_t{most}));
}

double real_of(char const* at, NumberType type) {
  std::uint64_t const bits = bits_of(at, type);
  if (type.kind == 'f')
    return type.bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                           : std::bit_cast<double>(bits);
  if (type.kind == 'i') return static_cast<double>(signed_of(bits, type.bytes));
  return type.kind == 'b' ? (bits != 0) : static_cast<double>(bits);
}

}  // namespace

std::size_t BinaryReader::some(std::span<char> out) {
  std::size_t done = 0;
  try {
    while (done < out.size()) {
      std::size_t const got = source_->read(out.subspan(done));
      if (got == 0) break;
      done += got;
    }
  } catch (MatrixError const& e) {
    position_ += static_cast<std::int64_t>(done);
    fail(e.what());
  }
  position_ += static_cast<std::int64_t>(done);
  return done;
}

void BinaryReader::all(std::span<char> out, std::string const& what) {
  if (some(out) < out.size()) fail(cat("the file ends in ", what, ": it is truncated"));
}

void BinaryReader::skip(std::int64_t bytes, std::string const& what) {
  std::int64_t done = 0;
  try {
    done = source_->skip(bytes);
  } catch (MatrixError const& e) { fail(e.what()); }
  position_ += done;
  if (done < bytes) fail(cat("the file ends in ", what, ": it is truncated"));
}

std::int64_t BinaryReader::integer(NumberType type, std::string const& what) {
  char bytes[8];
  all(std::span(bytes).first(static_cast<std::size_t>(type.bytes)), what);
  return integer_of(bytes, type);
}

void BinaryReader::require(std::int64_t count, std::int64_t bytes, std::string const& what) const {
  std::int64_t const most = source_->max_bytes();
  if (count < 0 || count > most / bytes)
    fail(cat(what, ": ", count, " numbers of ", bytes, " bytes; the file can hold ", most / bytes));
}

/// f(i, bytes) for each number.
template <class F>
void BinaryReader::each(NumberType type, std::int64_t count, std::string const& what, F const& f) {
  require(count, type.bytes, what);
  std::vector<char> bytes(static_cast<std::size_t>(std::min(count, chunk) * type.bytes));
  for (std::int64_t first = 0; first < count; first += chunk) {
    std::int64_t const n = std::min(chunk, count - first);
    all(std::span(bytes).first(static_cast<std::size_t>(n * type.bytes)), what);
    for (std::int64_t k = 0; k < n; ++k) f(first + k, bytes.data() + k * type.bytes);
  }
}

template <class T>
std::vector<T> BinaryReader::integers(NumberType type, std::int64_t count, T most,
                                      std::string const& what, std::int64_t first) {
  std::vector<T> values;
  each(type, count, what, [&](std::int64_t i, char const* at) {
    std::int64_t const value = integer_of(at, type);
    if (value < 0 || value > most)
      throw MatrixError(
          cat(name_, ": ", what, "[", first + i, "] = ", value, " is outside 0 .. ", most));
    values.push_back(static_cast<T>(value));
  });
  return values;
}
template std::vector<Index> BinaryReader::integers(NumberType, std::int64_t, Index,
                                                   std::string const&, std::int64_t);
template std::vector<Offset> BinaryReader::integers(NumberType, std::int64_t, Offset,
                                                    std::string const&, std::int64_t);

std::vector<double> BinaryReader::reals(NumberType type, std::int64_t count, bool nonfinite,
                                        std::string const& what, std::int64_t first) {
  std::vector<double> values;
  each(type, count, what, [&](std::int64_t i, char const* at) {
    double const value = real_of(at, type);
    if (!nonfinite && !std::isfinite(value))
      throw MatrixError(cat(name_, ": ", what, "[", first + i, "] = ", value, " is not finite"));
    values.push_back(value);
  });
  return values;
}

void BinaryReader::fail(std::string const& what) const {
  throw MatrixError(cat(name_, ": byte ", position_, ": ", what));
}

}  // namespace tcsolve
