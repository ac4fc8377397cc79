// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/assemble.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/csr_builder.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tcsolve {
namespace {

/// Throws where the arrays are no rows.
void check_rows(Csr<double> const& a, std::string const& name, char const* line) {
  if (a.offsets.front() != 0)
    throw MatrixError(
        cat(name, ": indptr[0] = ", a.offsets.front(), "; the first ", line, " begins at 0"));
  for (Index i = 0; i < a.rows; ++i) {
    Offset const begin = a.offsets[static_cast<std::size_t>(i)],
                 end = a.offsets[static_cast<std::size_t>(i) + 1];
    if (end < begin || end > a.entries())
      throw MatrixError(cat(name, ": indptr[", std::int64_t{i} + 1, "] = ", end, " of ", line, " ",
                            i, " is outside ", begin, " .. ", a.entries()));
    for (Index const j : a.row_columns(i))
      if (j >= a.cols)
        throw MatrixError(
            cat(name, ": the index ", j, " in ", line, " ", i, " is outside 0 .. ", a.cols - 1));
  }
  if (a.offsets.back() != a.entries())
    throw MatrixError(cat(name, ": indptr ends with ", a.offsets.back(), "; there are ",
                          a.entries(), " entries"));
}

bool is_canonical(Csr<double> const& a) {
  for (Index i = 0; i < a.rows; ++i) {
    auto const columns = a.row_columns(i);
    for (std::size_t k = 1; k < columns.size(); ++k)
      if (columns[k] <= columns[k - 1]) return false;
  }
  return true;
}

}  // namespace

Csr<double> assembled_from_rows(Csr<double> a, std::string const& name, char const* line,
                                ReadOptions const& options) {
  check_rows(a, name, line);
  if (is_canonical(a)) return a;
  try {
    return canonical(a.view(), options.duplicates, options.nonfinite);
  } catch (MatrixError const& e) { throw MatrixError(cat(name, ": ", e.what())); }
}

Csr<double> assembled_from_triplets(Index rows, Index cols, std::span<Index const> row,
                                    std::span<Index const> col, std::span<double const> values,
                                    std::string const& name, ReadOptions const& options) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  CsrBuilder builder(rows, cols);
  std::vector<Entry> entries;
  for (std::size_t first = 0; first < values.size(); first += chunk) {
    entries.clear();
    for (std::size_t k = first; k < std::min(values.size(), first + chunk); ++k) {
      if (row[k] >= rows || col[k] >= cols)
        throw MatrixError(cat(name, ": entry ", k, " at (", row[k], ", ", col[k],
                              ") is outside the matrix of ", rows, " x ", cols));
      entries.push_back({row[k], col[k], values[k]});
    }
    builder.append(builder.slice(entries));
  }
  try {
    Csr<double> a =
        builder.finish(options.duplicates == Duplicates::refuse ? Repeats::refuse : Repeats::sum,
                       {options.threads, options.cancel});
    if (options.nonfinite == NonFinite::refuse && a.values.size() < values.size())
      validate(a.view());  // a sum of finite duplicates may be infinite
    return a;
  } catch (MatrixError const& e) { throw MatrixError(cat(name, ": ", e.what())); }
}

}  // namespace tcsolve
