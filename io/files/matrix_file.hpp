// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors on file, whatever wrote them; the first bytes say what they are.
///
///     Matrix Market          matrix, columns   io/files/matrix_market.hpp
///     numbers, a row a line          columns
///     Harwell-, Rutherford-
///       Boeing               matrix            io/files/harwell_boeing.hpp
///     SciPy .npz             matrix            io/files/numpy.hpp
///     NumPy .npy                     columns
///     PETSc binary           matrix, columns   io/files/petsc.hpp
///     MATLAB 5 to 7          matrix, columns   io/files/matlab.hpp
///     tar                    matrix, columns   SuiteSparse: NAME/NAME.mtx and NAME/NAME_b.mtx
///
/// Files of other programs are refused by name, with the command that converts them
/// (io/files/foreign_file.hpp). All but .npz may be compressed by gzip or xz. The path "-" is
/// standard input.
#pragma once

#include <tcsolve/io/files/matrix_file_size.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

enum class FileType {
  text,  ///< none of the below: a config
  matrix_market,
  numpy_archive,
  numpy_array,
  petsc,
  tar,
  matlab,
  harwell_boeing,
  foreign,  ///< known and not read, plain numbers too, where a matrix is asked for
};

/// By the first bytes, decompressed. Throws MatrixError when the file cannot be read.
FileType file_type(std::filesystem::path const& path);

/// From the headers alone. Throws as read_matrix().
MatrixFileSize matrix_file_size(std::filesystem::path const& path, ReadOptions const& options = {});

/// The matrix in a file of any type above; what read_matrix_market() says of its result and of its
/// errors holds for all, but a binary file is at fault at a byte or a field, not in a line, and
/// `stats` are those of text.
Csr<double> read_matrix(std::filesystem::path const& path, ReadOptions const& options = {});

/// The columns in a file of any type above. `role` is b, x0, x or z: which of several is meant, in
/// a tar the member NAME/NAME_<role>.mtx. Throws as read_columns().
Columns read_columns_file(std::filesystem::path const& path, std::string const& role,
                          ReadOptions const& options = {});
/// Their extents as the header states them.
ColumnsSize columns_file_size(std::filesystem::path const& path, std::string const& role,
                              ReadOptions const& options = {});
/// The same of a file that must hold one column.
std::vector<double> read_vector_file(std::filesystem::path const& path, std::string const& role,
                                     ReadOptions const& options = {});

/// The same for bytes in memory, not compressed as a whole; `name` stands for the file in messages.
Csr<double> parse_matrix(std::string_view bytes, std::string const& name = "bytes",
                         ReadOptions const& options = {});
Columns parse_columns_file(std::string_view bytes, std::string const& role,
                           std::string const& name = "bytes", ReadOptions const& options = {});
std::vector<double> parse_vector_file(std::string_view bytes, std::string const& role,
                                      std::string const& name = "bytes",
                                      ReadOptions const& options = {});

/// Whether a path stands for standard input, "-".
bool is_standard_input(std::filesystem::path const& path);

/// A file that holds all of standard input, so that it can be read twice; copied at the first call
/// into the folder for temporary files, gone with the process. The same of a pipe that a shell made
/// (`<(cat A.mtx)`). Any other path is returned as it is. Throws MatrixError where it cannot be
/// kept. Not for several threads.
std::filesystem::path readable_file(std::filesystem::path const& path);

/// "standard input", or the path.
std::string file_name(std::filesystem::path const& path);

}  // namespace tcsolve
