// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors on file, whatever wrote them: the type is found from the first bytes.
///
///     Matrix Market      %%MatrixMarket ...        io/matrix_market.hpp
///
/// Each may be compressed by gzip or xz, and each may be "-", standard input.
#pragma once

#include <tcsolve/io/matrix_market.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

enum class FileType {
  text,  ///< nothing of the below: plain numbers, a config
  matrix_market,
  numpy_archive,  ///< zip, as scipy.sparse.save_npz writes
  numpy_array,    ///< .npy
  petsc,          ///< PETSc binary, matrix or vector
  tar,            ///< as the SuiteSparse collection ships
};

/// By the first bytes, decompressed. Throws MatrixError when the file cannot be read.
FileType file_type(std::filesystem::path const& path);

/// What is known of a matrix before it is read.
struct MatrixFileSize {
  Index rows = 0, cols = 0;
  Offset stored = 0;               ///< in the file
  Offset entries = 0;              ///< of the matrix: an upper bound
  std::int64_t csr_bytes = 0;      ///< of the Csr<double>
  std::int64_t reading_bytes = 0;  ///< at the peak of reading
};

/// From the header alone. Throws as read_matrix().
MatrixFileSize matrix_file_size(std::filesystem::path const& path);

/// The matrix in a file of any type above; what read_matrix_market() says of its result and of its
/// errors holds for all. Binary files are at fault at a byte or a field, not in a line.
Csr<double> read_matrix(std::filesystem::path const& path, ReadOptions const& options = {});

/// The vector in a file: Matrix Market, or plain numbers. Throws as read_vector().
std::vector<double> read_vector_file(std::filesystem::path const& path,
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
