// SPDX-License-Identifier: Apache-2.0
/// PETSc's binary files (MatLoad, VecLoad; PETSc manual, "Viewers"), big-endian throughout, one
/// object after another:
///
///     matrix   1211216, rows, cols, entries, row lengths (rows), columns, values
///     dense    1211216, rows, cols, -1, values row after row
///     vector   1211214, length, values
///     indices  1211218, length, indices (passed over)
///
/// Integers have 4 bytes, or 8 where PETSc was built with 64-bit indices. Values are float64 or, if
/// the options say so, float32: the file does not tell. Other builds, complex ones and those of
/// quadruple precision, are refused where the size of the file, or the values, give them away. Of a
/// file that begins with a matrix, b is the first vector behind it and x0 the second.
#pragma once

#include <tcsolve/io/files/matrix_file_size.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

/// Whether a file that starts with these bytes is PETSc's.
bool is_petsc(std::string_view start);

/// `held`: whether vectors lie behind the matrix, which is looked up where the file is passed over
/// at no cost, or by reading it.
MatrixFileSize petsc_matrix_size(TextInput const& input, ReadOptions const& options);
Csr<double> read_petsc_matrix(TextInput const& input, ReadOptions const& options);
/// The columns called `role`: b, x0, x or z (all vectors of a file that begins with one).
Columns read_petsc_columns(TextInput const& input, std::string const& role,
                           ReadOptions const& options);
ColumnsSize petsc_columns_size(TextInput const& input, std::string const& role,
                               ReadOptions const& options);

}  // namespace tcsolve
