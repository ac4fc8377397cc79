// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a matrix file and as a vector file of any type: a valid matrix comes out, or a
/// tcsolve::Error.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace tcsolve;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  ReadOptions const options{.threads = 1, .memory_limit = 64 << 20};
  try {
    Csr<double> const a = parse_matrix(bytes, "fuzz", options);
    try {
      validate(a.view());
    } catch (Error const&) { std::abort(); }
  } catch (Error const&) {}
  for (char const* role : {"b", "x0", "z"}) {
    try {
      Columns const x = parse_columns_file(bytes, role, "fuzz", options);
      auto const entries = static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.cols);
      if (x.values.size() != entries) std::abort();
    } catch (Error const&) {}
  }
  return 0;
}
