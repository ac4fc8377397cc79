// SPDX-License-Identifier: Apache-2.0
/// PETSc's binary files (MatLoad, VecLoad; PETSc manual, "Viewers"), big-endian throughout:
///
///     matrix   1211216, rows, cols, entries, row lengths (rows), columns, values
///     vector   1211214, length, values
///
/// Integers have 4 bytes, or 8 where PETSc was built with 64-bit indices; values are float64.
/// Further objects may follow. Dense matrices (entries = -1) and files of complex or single
/// precision, whose size does not agree, are refused.
#pragma once

#include <tcsolve/io/binary_reader.hpp>
#include <tcsolve/io/matrix_file_size.hpp>
#include <tcsolve/io/matrix_market.hpp>

#include <string_view>
#include <vector>

namespace tcsolve {

/// Whether a file that starts with these bytes is PETSc's.
bool is_petsc(std::string_view start);

MatrixFileSize petsc_matrix_size(BinaryReader& in);
Csr<double> read_petsc_matrix(BinaryReader& in, ReadOptions const& options);
/// The vector with which a file begins.
std::vector<double> read_petsc_vector(BinaryReader& in, ReadOptions const& options);

}  // namespace tcsolve
