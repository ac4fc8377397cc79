// SPDX-License-Identifier: Apache-2.0
/// MATLAB's files of versions 5 to 7 ("MAT-File Format", The MathWorks): variables one after
/// another, each compressed by zlib or not, either byte order.
///
///     matrix    the one sparse variable, or of several the one called A
///     columns   the full or sparse variable called as asked for, b for a right-hand side, or the
///               only one; n x k
///
/// The fields of a struct (Problem.A of the SuiteSparse collection) count as variables. Complex
/// values are refused by name, files of version 7.3 by foreign_file.hpp.
#pragma once

#include <tcsolve/io/files/matrix_file_size.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <string>
#include <string_view>

namespace tcsolve {

/// Whether a file that starts with these bytes, 128 at least, is MATLAB's.
bool is_matlab(std::string_view start);

MatrixFileSize matlab_matrix_size(TextInput const& input);
Csr<double> read_matlab_matrix(TextInput const& input, ReadOptions const& options);
ColumnsSize matlab_columns_size(TextInput const& input, std::string const& role);
/// Columns of the variable called `role`: b, x0, x or z.
Columns read_matlab_columns(TextInput const& input, std::string const& role,
                            ReadOptions const& options);

}  // namespace tcsolve
