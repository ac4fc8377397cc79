// SPDX-License-Identifier: Apache-2.0
/// Harwell-Boeing files (Duff, Grimes, Lewis 1992, RAL-92-086) and Rutherford-Boeing files (Duff,
/// Grimes, Lewis 1997, RAL-TR-97-031): columns one after another, in fields of fixed width.
///
///     title (72)                                            key (8)
///     lines in all   of pointers   of indices   of values   (of right-hand sides)
///     RUA            rows   columns   entries   (0)
///     (16I5)         (16I5)        (5E16.8)
///     pointers, columns + 1 of them; row indices; values
///
///     type   R real, I integer, P pattern (every entry 1);  U or R general, S symmetric,
///            Z skew-symmetric: expanded to both triangles;  A assembled
///
/// Complex and hermitian matrices and those by elements (E) are refused by name. Right-hand sides
/// behind the matrix are not read. Every fault is a MatrixError `file:line: what`.
#pragma once

#include <tcsolve/io/files/matrix_file_size.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <string_view>

namespace tcsolve {

/// Whether a file that starts with these bytes, four lines at least, is one of them.
bool is_harwell_boeing(std::string_view start);

MatrixFileSize harwell_boeing_size(TextInput const& input);
/// Throws as read_matrix_market(); at peak 28 bytes for each entry.
Csr<double> read_harwell_boeing(TextInput const& input, ReadOptions const& options);

}  // namespace tcsolve
