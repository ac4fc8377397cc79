// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a right-hand side, and as the numbers of rows that output.rows names: columns come
/// out, or a tcsolve::Error. A sparse Matrix Market file has the columns of the matrix in it.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

using namespace tcsolve;

namespace {

ReadOptions const options{
    .threads = 1, .nonfinite = NonFinite::keep, .memory_limit = std::int64_t{64} << 20};

template <class F>
auto or_nothing(F const& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (Error const&) { return {}; }
}

/// Every entry is at its place, and what is no entry is 0.
void expect_columns(Csr<double> const& a, Columns b) {
  if (b.rows != a.rows || b.cols != a.cols) std::abort();
  for (Index i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.row_columns(i).size(); ++k) {
      double const& stored = a.row_values(i)[k];
      double& dense = b.values[static_cast<std::size_t>(a.row_columns(i)[k]) *
                                   static_cast<std::size_t>(b.rows) +
                               static_cast<std::size_t>(i)];
      if (std::memcmp(&stored, &dense, sizeof stored) != 0) std::abort();
      dense = 0;
    }
  for (double const value : b.values)
    if (value != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  auto const b = or_nothing([&] { return parse_columns_file(bytes, "b", "fuzz", options); });
  if (!b) return 0;
  if (b->values.size() != static_cast<std::size_t>(b->rows) * static_cast<std::size_t>(b->cols))
    std::abort();
  if (bytes.starts_with("%%MatrixMarket"))
    if (auto const a = or_nothing([&] { return parse_matrix_market(bytes, "fuzz", options); }))
      expect_columns(*a, *b);
  constexpr Index length = 1000;
  if (auto const rows = or_nothing([&] { return row_numbers(*b, length, "fuzz"); })) {
    std::vector<bool> seen(length, false);
    for (Index const i : *rows) {
      if (i < 0 || i >= length || seen[static_cast<std::size_t>(i)]) std::abort();
      seen[static_cast<std::size_t>(i)] = true;
    }
  }
  return 0;
}
