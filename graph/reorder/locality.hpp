// SPDX-License-Identifier: Apache-2.0
/// The locality of x in a product with A: how close the elements lie that are read together.
#pragma once

#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {

/// The locality of the product y = A x by the pattern of A alone, whatever the format.
///
/// The rows are taken in blocks of 32, a warp's or a slice's; x is FP64 in sectors of 32 bytes, the
/// least that a GPU moves between its caches.
///
///     cols   0 1 2 3 | 4 5 6 7 | 8 9 10 11
///     row 0  * *     |         |              a block of two rows: 5 entries, 2 sectors of x;
///     row 1    * *   |         |   *          32 * 2 / 5 = 12.8 bytes of x an entry
struct Locality {
  Index bandwidth = 0;  ///< max |i - j| over the entries
  Offset profile = 0;   ///< sum over rows i of i - min{j <= i : a_ij stored}; George and Liu 1981
  Offset entries = 0;
  Offset sectors = 0;  ///< distinct sectors of x that a block reads, summed over the blocks
  Index row_blocks = 0;
  Index wide_blocks = 0;  ///< blocks whose columns span 65536 or more: beyond 16-bit differences

  /// Bytes of x that reach the processors for an entry of A, if a block reads a sector once and
  /// nothing stays for the next block: from 8 / 32 (all rows of a block alike) to 32 (a sector for
  /// every entry).
  double gather() const { return entries > 0 ? 32.0 * double(sectors) / double(entries) : 0; }
  /// Bytes that an entry costs in all: 8 for the value, 2 or 4 for the column (SELL), and half of
  /// gather(), an estimate of how much faster than the memory the caches are that x comes from. A
  /// model to compare orders of one matrix by, not a prediction of time.
  double cost() const;
};

/// Cost: one pass over the pattern, cols bytes of counters read at random; serial.
Locality locality(Pattern const& a);
/// The locality of P A P^T, without making the matrix. Throws ShapeError unless A is square and of
/// P's size. Cost: the same pass with a look at P for each entry.
Locality locality(Pattern const& a, Permutation const& P);
/// The locality of a matrix in the Context's space, computed there
/// (graph/reorder/locality_build.hpp). Cost: one pass over the pattern; on a device a warp goes
/// through a block's sectors one by one. Throws ShapeError where the matrix is not there.
template <class S>
Locality locality(Context&, CsrView<S> const& a);

}  // namespace tcsolve
