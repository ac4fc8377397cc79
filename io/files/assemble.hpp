// SPDX-License-Identifier: Apache-2.0
/// The arrays of a binary file to a canonical matrix. Numbers in messages count from 0, as the
/// arrays do.
#pragma once

#include <tcsolve/io/files/matrix_market.hpp>

#include <span>
#include <string>

namespace tcsolve {

/// Rows as they lie in a file: columns in any order, duplicates as the options say. `line` is what
/// a row is called. Throws MatrixError with `name` where the offsets do not ascend from 0 to the
/// number of entries or a column is out of range.
Csr<double> assembled_from_rows(Csr<double> a, std::string const& name, char const* line,
                                ReadOptions const& options);

/// Entries in any order.
Csr<double> assembled_from_triplets(Index rows, Index cols, std::span<Index const> row,
                                    std::span<Index const> col, std::span<double const> values,
                                    std::string const& name, ReadOptions const& options);

}  // namespace tcsolve
