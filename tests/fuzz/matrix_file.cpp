// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a matrix file and as a vector file of any type: a valid matrix comes out, or a
/// tcsolve::Error.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/matrix_file.hpp>

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
  try {
    parse_vector_file(bytes, "b", "fuzz", options);
  } catch (Error const&) {}
  return 0;
}
