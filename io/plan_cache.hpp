// SPDX-License-Identifier: Apache-2.0
/// What was found out about a pattern once need not be found out again: orders, and formats that
/// were measured.
#pragma once

#include <functional>
#include <string>

#include <tcsolve/io/disk_cache.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/reorder/reordering.hpp>

namespace tcsolve {

/// A name for a pattern: extents and 128 bits of its positions; values play no part. Two patterns
/// of one name would be a collision of 128-bit hashes, which are not made against an adversary.
/// Cost: one pass over the pattern, by all threads.
std::string pattern_key(Pattern const& a);
/// 128 bits, in hexadecimal, of positions and values: the same matrix has the same on every
/// machine. Cost: one pass over the matrix, by all threads.
std::string matrix_hash(Csr<double> const& a);

/// reordering() of reordering.hpp, taken from the cache where it is there and put there where it is
/// not. `note` says which, or why nothing was kept. A permutation that does not fit is computed
/// anew. Throws what reordering() throws. Cost when it is there: the key, and 4 bytes a row.
Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache, std::string& note);
/// The same of an order that make() computes.
Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache, std::string& note,
                      std::function<Reordering()> const& make);

}  // namespace tcsolve
