// SPDX-License-Identifier: Apache-2.0
/// Rows of a product in the order of the size of table that they need, stably, and those that need
/// none behind all others: a counting sort, on either backend (kernels/convert.hpp). Whoever finds
/// a size counts it (SizeCounts::add), so that the rest is one scan and one pass:
///
///     rows      0  1  2  3   4  5  6  7   8  9           here pieces of 4 rows
///     size      1  0  1  1   0  0  1  2   2  0
///     count     1  2  1      3  1  0      0  1  1        of size 0 in each piece, of 1, of 2
///     sums      0  1  3      4  7  8      8  8  9  10    where the first of them goes
///     order     1  4  5  9   0  2  3  6   7  8
///
/// Where lengths of rows are known they lie before the counts, and are summed by the same scan.
#pragma once

#include <algorithm>
#include <array>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/sparse/product_table.hpp>

namespace tcsolve::sparse {

struct SizeCounts {
  static constexpr std::int64_t piece = 256;
  static constexpr int sizes = done_rows + 1;
  std::int64_t pieces;
  Offset* count;        ///< (sizes x pieces)
  std::int32_t* again;  ///< RowsFound::again
  TCSOLVE_HD void add(std::int64_t i, std::uint32_t size) const {
    atomic_add(count + size * pieces + i / piece, 1);
  }
  TCSOLVE_HD void try_again() const {
    if (glance(again) == 0) put(again, 1);
  }
};

/// What the host has to know of rows in order.
struct RowsFound {
  Offset entries;                               ///< 0 where no lengths were summed
  std::array<Offset, SizeCounts::sizes> begin;  ///< of each size in the order
  std::int32_t again;  ///< that some have to be tried again, since the last order without lengths
};

struct PlaceRows {
  SizeCounts counts;
  std::uint32_t const* size;
  std::int64_t n;
  Offset const* sums;     ///< (sizes x pieces + 1)
  Offset const* entries;  ///< which are in them; null: none
  Index* order;
  RowsFound* found;
  /// The rows of a piece. Its counts are zero again for the next order.
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t p) const {
    using Word = typename Warp::template Of<std::uint32_t>;
    Offset const before = entries != nullptr ? *entries : 0;
    std::int64_t const first = p * counts.piece;
    for (int s = 0; s < counts.sizes; ++s) {
      Offset const* const sum = sums + s * counts.pieces + p;
      Offset to = sum[0] - before;
      if (sum[1] == sum[0]) continue;
      for (int k = 0; k < counts.piece; k += 32) {
        Word here, rank;
        warp.each([&](int lane) {
          std::int64_t const i = first + k + lane;
          here[lane] = rank[lane] = i < n && size[i] == static_cast<std::uint32_t>(s);
        });
        std::uint32_t const all = warp.rank(rank);
        warp.each([&](int lane) {
          if (here[lane] != 0) order[to + rank[lane]] = static_cast<Index>(first + k + lane);
        });
        to += all;
      }
    }
    warp.each([&](int lane) {
      for (int s = lane; s < counts.sizes; s += 32) {
        counts.count[s * counts.pieces + p] = 0;
        if (p == 0) found->begin[s] = sums[s * counts.pieces] - before;
      }
      if (p != 0 || lane != 0) return;
      found->entries = before;
      if (entries == nullptr) found->again = 0;
    });
  }
};

/// n rows, in memory of a backend.
class RowsBySize {
 public:
  template <class On>
  RowsBySize(On& on, std::int64_t n)
      : n_(n), pieces_(std::max<std::int64_t>((n + SizeCounts::piece - 1) / SizeCounts::piece, 1)) {
    length_ = on.template take<Offset>(static_cast<std::size_t>(all()));
    sums_ = on.template take<Offset>(static_cast<std::size_t>(all()));
    found_ = on.template take<RowsFound>(1);
    on.clear(length_ + n + 1, all() - (n + 1));
  }
  SizeCounts counts() const { return {pieces_, length_ + n_ + 1, &found_->again}; }
  /// (n + 1) to be written before order(.., lengths), which leaves their sums at offsets().
  Offset* length() const { return length_; }
  Offset const* offsets() const { return sums_; }

  /// The rows in the order of sizes that have been counted. Waits.
  template <class On>
  RowsFound order(On& on, std::uint32_t const* size, Index* to, bool lengths) const {
    std::int64_t const first = lengths ? 0 : n_ + 1;
    on.scan(length_ + first, sums_ + first, all() - first, Plus{});
    on.each_warp(pieces_, PlaceRows{counts(), size, n_, sums_ + n_ + 1,
                                    lengths ? sums_ + n_ : nullptr, to, found_});
    RowsFound found;
    on.read(found_, &found, 1);
    return found;
  }

 private:
  /// Lengths, counts, and a word behind them, so that each has a sum after it.
  std::int64_t all() const { return n_ + 1 + SizeCounts::sizes * pieces_ + 1; }
  std::int64_t n_, pieces_;
  Offset *length_, *sums_;
  RowsFound* found_;
};

}  // namespace tcsolve::sparse
