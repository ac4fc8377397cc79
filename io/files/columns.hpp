// SPDX-License-Identifier: Apache-2.0
/// Dense columns on file: right-hand sides, initial guesses, solutions, a nullspace.
#pragma once

#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tcsolve {

struct Columns {
  Index rows = 0, cols = 1;
  std::vector<double> values;  ///< rows x cols, column after column
};

/// What a header says of columns before they are read.
struct ColumnsSize {
  std::optional<Index> rows;  ///< plain text does not say
  Index cols = 1;
};

/// A matrix as columns: what is not stored is 0. Throws MemoryError, before the allocation, where
/// they exceed the limit (require_memory()).
Columns dense_columns(Csr<double> const& a, std::string const& name, std::int64_t memory_limit);

/// The one column of x as numbers of rows of a vector of `length`, counted from 1; the result
/// counts from 0. Throws MatrixError, `name` in front, for several columns, no number, one that is
/// not whole, outside [1, length], or there twice. Cost: a bit for each row.
std::vector<Index> row_numbers(Columns const& x, Index length, std::string const& name);

/// The one column of x. Throws MatrixError where there are more, `name` in front.
std::vector<double> one_column(Columns x, std::string const& name);

}  // namespace tcsolve
