// SPDX-License-Identifier: Apache-2.0
/// What all kinds of generators share around the definition of their matrix. Not for users.
#pragma once

#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>
#include <tcsolve/io/hash.hpp>
#include <tcsolve/io/row_builder.hpp>

#include <new>

namespace tcsolve::detail {

/// build(rows), renumbered if asked for, once it is sure to fit into memory.
template <class Params, class Build>
Csr<double> generated(char const* name, Params const& p, Workers const& workers,
                      Build const& build) {
  MatrixSize const size = size_of(p);
  std::string const what = cat(name, ": a matrix of ", size.rows, " x ", size.cols, " with ",
                               size.exact ? "" : "up to ", size.entries, " entries");
  require_memory(size.build_bytes, 0, what);
  try {
    Csr<double> a = build(size.rows);
    if (p.renumber == Renumber::none) return a;
    return permuted(a.view(), random_permutation(size.rows, p.seed), workers.threads);
  } catch (std::bad_alloc const&) { throw MemoryError(what + ": out of memory"); }
}

}  // namespace tcsolve::detail
