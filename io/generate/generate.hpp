// SPDX-License-Identifier: Apache-2.0
/// What all kinds of generators share around the definition of their matrix. Not for users.
#pragma once

#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>
#include <tcsolve/io/hash.hpp>
#include <tcsolve/io/row_builder.hpp>

#include <algorithm>
#include <new>

namespace tcsolve::detail {

/// build(n, rows), these rows of a matrix of n, renumbered if asked for, once they are sure to fit
/// into memory.
template <class Params, class Build>
Csr<double> generated(char const* name, Params const& p, RowRange rows, Workers const& workers,
                      Build const& build) {
  MatrixSize const size = size_of(p);
  if (rows.first < 0 || rows.end < rows.first || rows.end > size.rows)
    throw ShapeError(cat(name, ": rows ", rows.first, " to ", rows.end, " of ", size.rows));
  bool const all = rows.size() == size.rows;
  if (!all && !has_rows_apart(p))
    throw Unsupported(cat(name, ": some of the rows of a matrix that is made as a whole"));
  std::string const what = cat(
      name, ": ", all ? "" : cat("rows ", rows.first + 1, " to ", rows.end, " of "), "a matrix of ",
      size.rows, " x ", size.cols, " with ", size.exact ? "" : "up to ", size.entries, " entries");
  double const part = static_cast<double>(rows.size()) / std::max<double>(size.rows, 1);
  require_memory(all ? size.build_bytes
                     : static_cast<std::int64_t>(static_cast<double>(size.build_bytes) * part),
                 0, what);
  try {
    Csr<double> a = build(size.rows, rows);
    if (p.renumber == Renumber::none) return a;
    return permuted(a.view(), random_permutation(size.rows, p.seed), workers.threads);
  } catch (std::bad_alloc const&) { throw MemoryError(what + ": out of memory"); }
}

}  // namespace tcsolve::detail
