// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/matrix_file.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/byte_source.hpp>

#include <array>

namespace tcsolve {
namespace {

/// The options, with a name for messages where the path is none.
ReadOptions named(std::filesystem::path const& path, ReadOptions options) {
  if (options.name.empty()) options.name = file_name(path);
  return options;
}

bool begins_with_banner(std::string_view text) {
  constexpr std::string_view banner = "%%matrixmarket";
  if (text.size() < banner.size()) return false;
  for (std::size_t i = 0; i < banner.size(); ++i) {
    char const c = text[i];
    if (('A' <= c && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c) != banner[i]) return false;
  }
  return true;
}

FileType type_of(std::string_view start) {
  if (begins_with_banner(start)) return FileType::matrix_market;
  return FileType::text;
}

}  // namespace

FileType file_type(std::filesystem::path const& path) {
  std::array<char, 512> start;
  auto const source = open_file(readable_file(path));
  try {
    return type_of({start.data(), source->read(start)});
  } catch (MatrixError const& e) { throw MatrixError(cat(file_name(path), ": ", e.what())); }
}

MatrixFileSize matrix_file_size(std::filesystem::path const& path) {
  MatrixHeader const header = read_matrix_market_header(readable_file(path), file_name(path));
  return {header.rows,          header.cols,        header.stored,
          header.max_entries(), header.csr_bytes(), header.reading_bytes()};
}

Csr<double> read_matrix(std::filesystem::path const& path, ReadOptions const& options) {
  return read_matrix_market(readable_file(path), named(path, options));
}

std::vector<double> read_vector_file(std::filesystem::path const& path,
                                     ReadOptions const& options) {
  return read_vector(readable_file(path), named(path, options));
}

}  // namespace tcsolve
