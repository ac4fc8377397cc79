// SPDX-License-Identifier: Apache-2.0
/// Results per sparsity pattern that are kept between runs: orders, and formats that were
/// measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/disk_cache.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

/// The key of a pattern: extents and a 128-bit hash of its positions, without the values. The hash
/// is not cryptographic: a collision can be constructed, but does not occur by chance.
/// Cost: one pass over the pattern, by all threads.
std::string pattern_key(Pattern const& a);
/// 128 bits, in hexadecimal, of positions and values: the same matrix has the same on every
/// machine. Cost: one pass over the matrix, by all threads.
std::string matrix_hash(Csr<double> const& a);

/// What matrix_hash() is made of. Sums of parts, added, are those of the whole.
struct HashSums {
  std::uint64_t first = 0, second = 0;
  HashSums& operator+=(HashSums const& other) {
    first += other.first, second += other.second;
    return *this;
  }
  std::string text() const;  ///< in hexadecimal
};
/// Of consecutive rows of a matrix, with its columns: the first row, and the entries before it.
HashSums hash_sums(Csr<double> const& rows, std::int64_t first_row, Offset first_entry);

/// reordering() of reordering.hpp, read from the cache if it is stored there, else computed and
/// stored. `note` names the case, or why nothing was stored. A permutation of another size is
/// computed anew. Throws what reordering() throws. Cost of a hit: the key, and 4 bytes per row.
Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache, std::string& note);
/// The same for an order that make() computes.
Reordering reordering(Pattern const& a, Reorder reorder, DiskCache const& cache, std::string& note,
                      std::function<Reordering()> const& make);

}  // namespace tcsolve
