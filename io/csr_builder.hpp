// SPDX-License-Identifier: Apache-2.0
/// Entries in any order to canonical CSR, in parallel, with the same result for every thread count.
///
/// Rows are cut into at most 1024 blocks of a power of two rows. Each slice of entries is sorted by
/// row block (stable, in cache); then every block is assembled on its own: rows counted, entries
/// put in place in the order in which they were appended, rows sorted where they are not,
/// duplicates summed in that same order. So both halves of a symmetric matrix are summed alike, bit
/// for bit.
#pragma once

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tcsolve {

struct Entry {
  Index row;
  Index col;
  double value;
};

/// What becomes of several entries at one place.
enum class Repeats {
  refuse,  ///< RepeatedEntry is thrown
  sum,     ///< in the order in which they were appended
  least,   ///< the smallest value stays
};

/// Two entries at one place where that is refused.
struct RepeatedEntry : MatrixError {
  RepeatedEntry(Index i, Index j);
  Index row, col;  // 0-based
};

class CsrBuilder {
 public:
  CsrBuilder(Index rows, Index cols);

  /// Entries sorted by row block.
  struct Slice {
    std::vector<Entry> entries;
    std::vector<std::uint32_t> first;  // (blocks + 1): where each block starts in `entries`
  };
  /// Sorts at most 2^32 - 1 entries, all inside the matrix. Safe to call from several threads.
  Slice slice(std::span<Entry const> entries) const;
  /// Adds a slice behind those already there.
  void append(Slice slice);

  /// The matrix; the builder is empty afterwards. Throws RepeatedEntry for the first row block with
  /// a repeated entry when those are refused, and Cancelled between two blocks. Cost: two passes
  /// over the entries, 28 bytes each at peak.
  Csr<double> finish(Repeats repeats, Workers const& workers = {});

 private:
  Offset assemble_block(std::int64_t block, Offset base, Repeats, Csr<double>&) const;

  Index rows_, cols_;
  int shift_;            // rows per block = 2^shift
  std::int64_t blocks_;  // row blocks
  std::vector<Slice> slices_;
};

}  // namespace tcsolve
