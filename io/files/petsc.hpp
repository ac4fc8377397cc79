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
#include <tcsolve/io/files/petsc_scalars.hpp>

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

/// Part k of n of the rows of the matrix with which a file begins, by their places in it:
///
///     row lengths   all are passed over: parts are stretches of about equally many entries
///     columns       sought, those of the part
///     values        the same
///
/// Throws as read_petsc_matrix(), with the same places in what it says: of fault after fault in the
/// file the reader whose part has the first. A file that is not compressed is passed over at no
/// cost. Cost: as for a matrix of the part, and a pass over all row lengths.
class PetscRows {
 public:
  PetscRows(TextInput input, ReadOptions const& options, int part, int parts);
  /// (parts + 1) the first rows of the parts; the number of rows.
  std::vector<std::int64_t> const& starts() const { return starts_; }
  void read_columns();
  void read_values();
  /// The rows, canonical, once both are read.
  Csr<double> assembled();
  /// Throws where the signs of all parts together say that the values are complex.
  void check_plausible(ComplexSigns const&) const;

 private:
  void read_lengths(int part, int parts);

  TextInput input_;
  ReadOptions options_;
  int integer_bytes_ = 4;
  std::int64_t lengths_at_ = 0, columns_at_ = 0, values_at_ = 0;  // in the file
  std::int64_t rows_ = 0;
  Offset entries_ = 0, first_entry_ = 0;
  std::int64_t first_row_ = 0;
  std::vector<std::int64_t> starts_;
  Csr<double> a_;  // rows here
};
/// The columns called `role`: b, x0, x or z (all vectors of a file that begins with one).
Columns read_petsc_columns(TextInput const& input, std::string const& role,
                           ReadOptions const& options);
ColumnsSize petsc_columns_size(TextInput const& input, std::string const& role,
                               ReadOptions const& options);

}  // namespace tcsolve
