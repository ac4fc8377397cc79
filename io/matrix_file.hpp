// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors on file, whatever wrote them; the first bytes say what they are.
///
///     Matrix Market          matrix, vector    io/matrix_market.hpp
///     numbers, one a line            vector
///     SciPy .npz             matrix            io/numpy.hpp
///     NumPy .npy                     vector
///     PETSc binary           matrix, vector    io/petsc.hpp
///     tar                    matrix, vector    SuiteSparse: NAME/NAME.mtx and NAME/NAME_b.mtx
///
/// All but .npz may be compressed by gzip or xz. The path "-" is standard input.
#pragma once

#include <tcsolve/io/matrix_file_size.hpp>
#include <tcsolve/io/matrix_market.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

enum class FileType {
  text,  ///< none of the below: plain numbers, a config
  matrix_market,
  numpy_archive,
  numpy_array,
  petsc,
  tar,
};

/// By the first bytes, decompressed. Throws MatrixError when the file cannot be read.
FileType file_type(std::filesystem::path const& path);

/// From the headers alone. Throws as read_matrix().
MatrixFileSize matrix_file_size(std::filesystem::path const& path);

/// The matrix in a file of any type above; what read_matrix_market() says of its result and of its
/// errors holds for all, but a binary file is at fault at a byte or a field, not in a line, and
/// `stats` are those of text.
Csr<double> read_matrix(std::filesystem::path const& path, ReadOptions const& options = {});

/// The vector in a file of any type above. Of a tar it is the member NAME/NAME_<role>.mtx, e.g.
/// "b". Throws as read_vector().
std::vector<double> read_vector_file(std::filesystem::path const& path, std::string const& role,
                                     ReadOptions const& options = {});

/// The same for bytes in memory, not compressed as a whole; `name` stands for the file in messages.
Csr<double> parse_matrix(std::string_view bytes, std::string const& name = "bytes",
                         ReadOptions const& options = {});
std::vector<double> parse_vector_file(std::string_view bytes, std::string const& role,
                                      std::string const& name = "bytes",
                                      ReadOptions const& options = {});

/// Whether a path stands for standard input, "-".
bool is_standard_input(std::filesystem::path const& path);

/// A file that holds all of standard input, so that it can be read twice; copied at the first call
/// into the folder for temporary files, gone with the process. Any other path is returned as it is.
/// Throws MatrixError where it cannot be kept.
std::filesystem::path readable_file(std::filesystem::path const& path);

/// "standard input", or the path.
std::string file_name(std::filesystem::path const& path);

}  // namespace tcsolve
