// SPDX-License-Identifier: Apache-2.0
/// A fused operation in the list that an interpreter walks (solvers/loop/program.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/kernels/diagonal.hpp>

namespace tcsolve {

constexpr int max_sums = 128;  ///< that one exchange of a team carries

/// Rows of a CSR matrix in shared memory, as byte positions in the dynamic part.
struct RowCache {
  int offsets, columns, values;
  int capacity;  // entries there is room for; 0: none
};

struct Instruction {
  static constexpr int max_operands = 256;  // bytes
  int op;                                   // position in the list of operations
  int barrier;                              // the team waits before it, and sees what was written
  int publish;                              // its sums make the team see what was written
  int lanes;                                // threads that share a row of a product, >= 1
  int alone;                                // its sum stays with the blocks (TeamMemory::held)
  std::int64_t n;     // elements that are shared out among the blocks of a grid, in order
  std::int64_t each;  // of a block: whole warps of 32, so that slices stay together
  RowCache cache;
  std::uint32_t pointers;    // bit k: the operands' k-th word of 8 bytes is a pointer
  Diagonal<double> through;  // a product reads x through it, if d is not null
  alignas(16) std::byte operands[max_operands];

  TCSOLVE_HD bool points(int word) const { return (pointers >> word & 1) != 0; }
  /// The elements of block b.
  TCSOLVE_HD std::int64_t begin(std::int64_t b) const { return b * each < n ? b * each : n; }
  TCSOLVE_HD std::int64_t end(std::int64_t b) const {
    return (b + 1) * each < n ? (b + 1) * each : n;
  }
};

}  // namespace tcsolve
