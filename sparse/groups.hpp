// SPDX-License-Identifier: Apache-2.0
/// Rows that a few lanes work on together, with memory of their own near at hand: what products of
/// sparse matrices need beyond kernels/convert.hpp. sparse/host_groups.hpp and sparse/groups.cuh
/// add to the backend
///
///     on.each_group(n, lanes, bytes, f)   f(group, i) for 0 <= i < n, in any order, by up to
///                                         `lanes` lanes, a power of two <= 32, each of which calls f
///     group.lane()  group.lanes()         which of how many: 0 of 1 on the host
///     group.sync()                        what the lanes have written is seen by all of them
///     group.scratch()                     `bytes` of memory of the group alone (shared memory on a
///                                         device), not cleared
#pragma once

#include <cstddef>

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve::sparse {

/// Bytes that a group may have, which every device can give to a block.
constexpr std::size_t most_scratch = 64 << 10;

/// Sorts n keys in the group's memory, a power of two, ascending: bitonic sort (Batcher 1968,
/// Sorting networks and their applications). Seen by all lanes on return.
template <class Group>
TCSOLVE_HD void sort_keys(Group const& group, Index* keys, Index n) {
  for (Index run = 2; run <= n; run *= 2)
    for (Index apart = run / 2; apart > 0; apart /= 2) {
      group.sync();
      for (Index pair = group.lane(); pair < n / 2; pair += group.lanes()) {
        Index const low = 2 * pair - pair % apart, high = low + apart;
        bool const ascending = (low & run) == 0;
        Index const x = keys[low], y = keys[high];
        if ((x > y) == ascending) keys[low] = y, keys[high] = x;
      }
    }
  group.sync();
}

}  // namespace tcsolve::sparse
