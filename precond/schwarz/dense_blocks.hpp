// SPDX-License-Identifier: Apache-2.0
/// Inverses of dense blocks of different sizes.
#pragma once

#include <vector>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Square blocks, by rows, one after the other; on the host.
struct DenseBlocks {
  std::vector<Index> sizes;
  std::vector<Offset> starts = {0};  ///< first value of each, and the number of values
  void add(Index size) {
    sizes.push_back(size);
    starts.push_back(starts.back() + Offset{size} * size);
  }
};

// invert_blocks: each block of `values`, which lie on the host, becomes its inverse, by
// eliminations with partial pivoting. Returns the first block whose inverse is not finite, -1 where
// there is none. Throws Cancelled. Cost: 2 size^3 a block; the host gives a thread a block, a
// device a block of threads.
namespace host {
Index invert_blocks(Host&, Arena&, CancelFlag, DenseBlocks const&, double* values);
}  // namespace host
namespace cuda {
Index invert_blocks(Device&, Arena&, CancelFlag, DenseBlocks const&, double* values);
}  // namespace cuda

}  // namespace tcsolve
