// SPDX-License-Identifier: Apache-2.0
/// Inverses of dense blocks of different sizes.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Some of the blocks: what the host knows of them, and the same in the Context's space.
struct BlockRange {
  std::span<Index const> sizes;    ///< (count)
  std::span<Offset const> starts;  ///< (count + 1); block k begins at starts[k] - starts[0]
  Index const* sizes_there = nullptr;
  Offset const* starts_there = nullptr;
  Index count() const { return static_cast<Index>(sizes.size()); }
};

/// Square blocks, by rows, one after the other.
struct DenseBlocks {
  std::vector<Index> sizes;
  std::vector<Offset> starts = {0};  ///< first value of each, and the number of values
  void add(Index size) {
    sizes.push_back(size);
    starts.push_back(starts.back() + Offset{size} * size);
  }
  BlockRange part(Index begin, Index end, Array<Index> const& sizes_there,
                  Array<Offset> const& starts_there) const {
    auto const first = static_cast<std::size_t>(begin),
               count = static_cast<std::size_t>(end) - first;
    return {std::span(sizes).subspan(first, count), std::span(starts).subspan(first, count + 1),
            sizes_there.data() + begin, starts_there.data() + begin};
  }
};

// invert_blocks: each block of `values`, which lie where the Context computes, becomes its inverse,
// by eliminations with partial pivoting. Returns the first block whose inverse is not finite, -1
// where there is none. Throws Cancelled. Cost: 2 size^3 a block; the host gives a thread a block, a
// device a block of threads.
namespace host {
Index invert_blocks(Host&, Arena&, CancelFlag, BlockRange const&, double* values);
}  // namespace host
namespace cuda {
Index invert_blocks(Device&, Arena&, CancelFlag, BlockRange const&, double* values);
}  // namespace cuda

}  // namespace tcsolve
