// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/matrix_file.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/archive.hpp>
#include <tcsolve/io/files/foreign_file.hpp>
#include <tcsolve/io/files/harwell_boeing.hpp>
#include <tcsolve/io/files/matlab.hpp>
#include <tcsolve/io/files/numpy.hpp>
#include <tcsolve/io/files/petsc.hpp>

#include <array>
#include <functional>
#include <memory>
#include <new>

namespace tcsolve {
namespace {

/// A file, or bytes in memory, by what can be done with either.
struct Input {
  std::string name;
  std::function<std::unique_ptr<ByteSource>()> open;       // decompressed
  std::function<std::unique_ptr<Archive>()> open_archive;  // decompressed by itself
};

Input file_input(std::filesystem::path const& path) {
  auto const file = readable_file(path);
  std::string const name = file_name(path);
  return {name, [file] { return open_file(file); },
          [file, name] { return std::make_unique<Archive>(file, name); }};
}

Input memory_input(std::string_view bytes, std::string const& name) {
  return {name, [bytes] { return open_text(bytes); },
          [bytes, name] { return std::make_unique<Archive>(bytes, name); }};
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
  constexpr std::size_t tar_magic = 257;
  if (begins_with_banner(start)) return FileType::matrix_market;
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06"))
    return FileType::numpy_archive;
  if (start.starts_with("\x93NUMPY")) return FileType::numpy_array;
  if (is_petsc(start)) return FileType::petsc;
  if (start.size() > tar_magic && start.substr(tar_magic).starts_with("ustar"))
    return FileType::tar;
  if (is_matlab(start)) return FileType::matlab;
  if (is_harwell_boeing(start)) return FileType::harwell_boeing;
  return FileType::text;
}

/// The first bytes of a file.
std::string start_of(Input const& input) {
  std::string start(foreign_bytes, '\0');
  auto const source = input.open();
  try {
    start.resize(source->read(start));
  } catch (MatrixError const& e) { throw MatrixError(cat(input.name, ": ", e.what())); }
  return start;
}

FileType type_of(Input const& input) {
  std::string const start = start_of(input);
  FileType const type = type_of(std::string_view(start));
  return type == FileType::text && foreign_matrix(start, input.name) ? FileType::foreign : type;
}

/// Refuses a file of another program by its name.
[[noreturn]] void refuse(Input const& input, ForeignFile const& foreign) {
  throw MatrixError(cat(input.name, ": this is ", foreign.what, "; ", foreign.convert));
}
[[noreturn]] void refuse_matrix(Input const& input) {
  refuse(input, *foreign_matrix(start_of(input), input.name));
}

/// The type where columns are asked for: numbers are no foreign text.
FileType columns_type(Input const& input) {
  std::string const start = start_of(input);
  FileType const type = type_of(std::string_view(start));
  if (type != FileType::text) return type;
  if (auto const foreign = foreign_columns(start, input.name)) refuse(input, *foreign);
  return FileType::text;
}

BinaryReader binary(Input const& input, ReadOptions const& options) {
  return {cancellable(input.open(), options.cancel), input.name};
}

/// Whether a member of the SuiteSparse collection is NAME/NAME<suffix>.mtx.
bool is_named(std::string const& member, std::string const& suffix) {
  std::filesystem::path const path = member;
  return path.extension() == ".mtx" && path.has_parent_path() &&
         path.stem() == path.parent_path().filename().string() + suffix;
}

/// The text of that member.
TextInput tar_member(Input const& input, std::string const& suffix) {
  auto const archive = input.open_archive();
  std::string seen;
  while (auto const member = archive->next()) {
    if (!is_named(*member, suffix)) {
      seen += cat(seen.empty() ? "" : ", ", *member);
      continue;
    }
    auto const open = [again = input.open_archive, wanted = *member, name = input.name] {
      auto archive = again();
      while (auto const next = archive->next())
        if (*next == wanted) return member_source(std::move(archive));
      throw MatrixError(cat(name, ": ", wanted, " is gone"));
    };
    return {cat(input.name, ": ", *member), open};
  }
  throw MatrixError(cat(input.name, ": no NAME/NAME", suffix,
                        ".mtx is in it, as in archives of the SuiteSparse collection; there is ",
                        seen.empty() ? "nothing" : seen));
}

TextInput text(Input const& input) { return {input.name, input.open}; }

MatrixFileSize size_of(MatrixHeader const& h) {
  return {.rows = h.rows,
          .cols = h.cols,
          .stored = h.stored,
          .entries = h.max_entries(),
          .csr_bytes = h.csr_bytes(),
          .reading_bytes = h.reading_bytes()};
}

/// f(), where running out of memory is a MemoryError.
template <class F>
auto within_memory(Input const& input, F const& f) {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    throw MemoryError(cat(input.name, ": out of memory while reading"));
  }
}

Csr<double> read(Input const& input, ReadOptions const& options) {
  switch (type_of(input)) {
    case FileType::numpy_archive:
      return read_numpy_matrix(*input.open_archive(), input.name, options);
    case FileType::numpy_array:
      throw MatrixError(cat(input.name,
                            ": a matrix is asked for; an .npy array is dense, save the matrix by "
                            "scipy.sparse.save_npz"));
    case FileType::petsc: return read_petsc_matrix(text(input), options);
    case FileType::tar: return read_matrix_market(tar_member(input, ""), options);
    case FileType::matlab: return read_matlab_matrix(text(input), options);
    case FileType::harwell_boeing: return read_harwell_boeing(text(input), options);
    case FileType::foreign: refuse_matrix(input);
    case FileType::matrix_market:
    case FileType::text: break;
  }
  return read_matrix_market(text(input), options);
}

[[noreturn]] void refuse_archive(Input const& input) {
  throw MatrixError(cat(input.name, ": a vector is asked for; save it alone, by numpy.save"));
}
[[noreturn]] void refuse_harwell_boeing(Input const& input) {
  throw MatrixError(
      cat(input.name, ": this is a Harwell- or Rutherford-Boeing matrix; a vector is asked for"));
}

Columns read_as_columns(Input const& input, std::string const& role, ReadOptions const& options) {
  switch (columns_type(input)) {
    case FileType::numpy_archive: refuse_archive(input);
    case FileType::harwell_boeing: refuse_harwell_boeing(input);
    case FileType::numpy_array: {
      BinaryReader in = binary(input, options);
      return read_numpy_columns(in, options);
    }
    case FileType::petsc: return read_petsc_columns(text(input), role, options);
    case FileType::tar: return read_columns(tar_member(input, "_" + role), options);
    case FileType::matlab: return read_matlab_columns(text(input), role, options);
    case FileType::foreign:
    case FileType::matrix_market:
    case FileType::text: break;
  }
  return read_columns(text(input), options);
}

ColumnsSize size_of_columns(Input const& input, std::string const& role,
                            ReadOptions const& options) {
  switch (columns_type(input)) {
    case FileType::numpy_archive: refuse_archive(input);
    case FileType::harwell_boeing: refuse_harwell_boeing(input);
    case FileType::numpy_array: {
      BinaryReader in = binary(input, options);
      return numpy_columns_size(in);
    }
    case FileType::petsc: return petsc_columns_size(text(input), role, options);
    case FileType::tar: return columns_size(tar_member(input, "_" + role));
    case FileType::matlab: return matlab_columns_size(text(input), role);
    case FileType::foreign:
    case FileType::matrix_market:
    case FileType::text: break;
  }
  return columns_size(text(input));
}

}  // namespace

FileType file_type(std::filesystem::path const& path) { return type_of(file_input(path)); }

MatrixFileSize matrix_file_size(std::filesystem::path const& path, ReadOptions const& options) {
  Input const input = file_input(path);
  return within_memory(input, [&]() -> MatrixFileSize {
    switch (type_of(input)) {
      case FileType::numpy_archive: return numpy_matrix_size(*input.open_archive(), input.name);
      case FileType::petsc: return petsc_matrix_size(text(input), options);
      case FileType::matlab: return matlab_matrix_size(text(input));
      case FileType::harwell_boeing: return harwell_boeing_size(text(input));
      case FileType::foreign: refuse_matrix(input);
      case FileType::tar: return size_of(read_matrix_market_header(tar_member(input, "")));
      case FileType::numpy_array: read(input, {}); break;  // says why it is no matrix
      case FileType::matrix_market:
      case FileType::text: break;
    }
    return size_of(read_matrix_market_header(text(input)));
  });
}

Csr<double> read_matrix(std::filesystem::path const& path, ReadOptions const& options) {
  Input const input = file_input(path);
  return within_memory(input, [&] { return read(input, options); });
}

Columns read_columns_file(std::filesystem::path const& path, std::string const& role,
                          ReadOptions const& options) {
  Input const input = file_input(path);
  return within_memory(input, [&] { return read_as_columns(input, role, options); });
}

ColumnsSize columns_file_size(std::filesystem::path const& path, std::string const& role,
                              ReadOptions const& options) {
  Input const input = file_input(path);
  return within_memory(input, [&] { return size_of_columns(input, role, options); });
}

std::vector<double> read_vector_file(std::filesystem::path const& path, std::string const& role,
                                     ReadOptions const& options) {
  return one_column(read_columns_file(path, role, options), file_name(path));
}

Csr<double> parse_matrix(std::string_view bytes, std::string const& name,
                         ReadOptions const& options) {
  Input const input = memory_input(bytes, name);
  return within_memory(input, [&] { return read(input, options); });
}

Columns parse_columns_file(std::string_view bytes, std::string const& role, std::string const& name,
                           ReadOptions const& options) {
  Input const input = memory_input(bytes, name);
  return within_memory(input, [&] { return read_as_columns(input, role, options); });
}

std::vector<double> parse_vector_file(std::string_view bytes, std::string const& role,
                                      std::string const& name, ReadOptions const& options) {
  return one_column(parse_columns_file(bytes, role, name, options), name);
}

}  // namespace tcsolve
