// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a matrix and as a vector: a canonical matrix comes out, or a tcsolve::Error.
#include <tcsolve/io/files/matrix_market.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace tcsolve;

namespace {

bool canonical_rows(Csr<double> const& a) {
  if (a.offsets.size() != static_cast<std::size_t>(a.rows) + 1) return false;
  for (Index i = 0; i < a.rows; ++i) {
    Index after = 0;
    for (Index const j : a.row_columns(i)) {
      if (j < after || j >= a.cols) return false;
      after = j + 1;
    }
  }
  return a.offsets.back() == a.entries() && a.values.size() == a.columns.size();
}

void read(std::string_view text, ReadOptions options) {
  options.memory_limit = 64 << 20;
  try {
    if (!canonical_rows(parse_matrix_market(text, "fuzz", options))) std::abort();
  } catch (Error const&) {}
  try {
    parse_vector(text, "fuzz", options);
  } catch (Error const&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  read(text, {.threads = 1});
  read(text, {.threads = 1, .duplicates = Duplicates::refuse, .nonfinite = NonFinite::keep});
  return 0;
}
