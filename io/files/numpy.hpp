// SPDX-License-Identifier: Apache-2.0
/// NumPy arrays on file (.npy, versions 1 to 3: numpy.lib.format) and the archives of them in which
/// scipy.sparse.save_npz keeps csr, csc and coo, compressed or not.
///
///     read    reals f4, f8; integers and bool, signed or not, of 1 to 8 bytes; either byte order
///     refused by name: complex, f2, f16, records, objects; shapes other than (n,) and (n, k)
#pragma once

#include <tcsolve/io/files/archive.hpp>
#include <tcsolve/io/files/binary_reader.hpp>
#include <tcsolve/io/files/matrix_file_size.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tcsolve {

/// What the first bytes of an .npy file state.
struct NumpyHeader {
  std::string descr;  ///< "<f8"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  /// Entries: 1 for the shape (). Throws MatrixError beyond int64, naming `name`.
  std::int64_t count(std::string const& name) const;
};

/// Throws MatrixError, with the byte, where it is malformed.
NumpyHeader read_numpy_header(BinaryReader& in);

/// The columns in an .npy file of shape (n,) or (n, k), in the order of C or of Fortran.
Columns read_numpy_columns(BinaryReader& in, ReadOptions const& options);
/// Their extents, from the header.
ColumnsSize numpy_columns_size(BinaryReader& in);

/// Writes x as a float64 array of shape (n,), or (n, columns) where there are several, one after
/// another in x; version 1.0. The file appears whole or not at all. Throws Error when it can't be
/// written.
void write_numpy_vector(std::filesystem::path const& path, std::span<double const> x,
                        Index columns = 1);

/// The matrix in an archive that save_npz() wrote, canonical; duplicates as the options say.
Csr<double> read_numpy_matrix(Archive& archive, std::string const& name,
                              ReadOptions const& options);
/// Its size, from the headers of its arrays.
MatrixFileSize numpy_matrix_size(Archive& archive, std::string const& name);

}  // namespace tcsolve
