// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/columns.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace tcsolve {

Columns dense_columns(Csr<double> const& a, std::string const& name, std::int64_t memory_limit) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t const entries = std::int64_t{a.rows} * a.cols;
  require_memory(entries > most / 8 ? most : 8 * entries, memory_limit,
                 cat(name, ": ", a.cols, " columns of ", a.rows, " numbers"));
  auto const rows = static_cast<std::size_t>(a.rows);
  Columns x{a.rows, a.cols, std::vector<double>(static_cast<std::size_t>(entries), 0.0)};
  for (Index i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.row_columns(i).size(); ++k)
      x.values[static_cast<std::size_t>(a.row_columns(i)[k]) * rows + static_cast<std::size_t>(i)] =
          a.row_values(i)[k];
  return x;
}

std::vector<Index> row_numbers(Columns const& x, Index length, std::string const& name) {
  if (x.cols != 1) throw MatrixError(cat(name, ": ", x.cols, " numbers a line; name a row a line"));
  if (x.rows == 0) throw MatrixError(cat(name, ": it names no row"));
  std::vector<Index> rows;
  std::vector<bool> named(static_cast<std::size_t>(length), false);
  for (double const number : x.values) {
    std::string const where = cat(name, ": number ", rows.size() + 1, " is ", number);
    if (!(number >= 1) || number > length)
      throw MatrixError(cat(where, "; rows are 1 to ", length));
    if (number != std::floor(number)) throw MatrixError(cat(where, ", which is not whole"));
    auto const row = static_cast<std::size_t>(number) - 1;
    if (named[row]) throw MatrixError(cat(where, ", which is named before"));
    named[row] = true;
    rows.push_back(static_cast<Index>(row));
  }
  return rows;
}

std::vector<double> one_column(Columns x, std::string const& name) {
  if (x.cols != 1)
    throw MatrixError(cat(name, ": ", x.rows, " x ", x.cols, " numbers; a vector has one column"));
  return std::move(x.values);
}

}  // namespace tcsolve
