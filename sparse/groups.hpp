// SPDX-License-Identifier: Apache-2.0
/// Rows that one thread or a whole warp works on, with memory of their own near at hand: what
/// products of sparse matrices need beyond kernels/convert.hpp. sparse/host_groups.hpp and
/// sparse/groups.cuh add to the backend
///
///     on.each_group(n, lanes, bytes, f)   f(group, i) for 0 <= i < n, in any order, by 1, 8 or 32
///                                         lanes, each of which calls f
///     on.each_block(n, bytes, f)          the same by block_lanes lanes
///     group.lane()  group.lanes()         which of how many: 0 of 1 on the host
///     group.sync()                        what the lanes have written is seen by all of them
///     group.most(n)                       the largest n of the groups that go in step with this
///                                         one: a loop with a sync() has so many turns
///     group.strip<T>(at)                  the list that begins `at` bytes after the beginning of
///                                         the group's `bytes`, in shared memory on a device, not
///                                         cleared; `at` is a multiple of sizeof(T)
///
/// Four groups of 8 lanes are a warp, and go in step: were a sync() of eight lanes alone, each
/// group would go on by itself from there, and one after another. So a sync() is of the warp, and
/// loops that have one are as long in all four.
#pragma once

#include <algorithm>
#include <cstddef>

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve::sparse {

/// Lanes of a group that is a block of a device.
constexpr int block_lanes = 128;
/// Bytes that a group may have, which every device can give to a block.
constexpr std::size_t most_scratch = 64 << 10;
/// The same for groups of so many lanes, several of which are in a block at least.
constexpr std::size_t most_scratch_of(int lanes) {
  return most_scratch / (lanes == 1 ? 64 : lanes < 32 ? 32 / lanes : 1);
}

/// A list in the memory of a group. Those of threads that are a group each lie interleaved, so that
/// a warp meets no bank twice, whatever element each of its threads is at.
template <class T>
struct Strip {
  T* first = nullptr;
  int step = 1;
  TCSOLVE_HD T& operator[](Index k) const { return first[k * step]; }
};

/// Sorts n keys in the memory of the group, ascending. Few of one lane go to their places one after
/// another; else there is room for the next power of two, and the sort is bitonic (Batcher 1968,
/// Sorting networks and their applications). Seen by all lanes on return.
template <class Group>
TCSOLVE_HD void sort_keys(Group const& group, Strip<Index> const& keys, Index n) {
  constexpr Index few = 64;
  if (group.lanes() == 1 && n <= few) {
    for (Index k = 1; k < n; ++k) {
      Index const key = keys[k];
      Index to = k;
      for (; to > 0 && keys[to - 1] > key; --to) keys[to] = keys[to - 1];
      keys[to] = key;
    }
    return;
  }
  constexpr Index largest = 0x7fffffff;
  Index padded = 1;
  while (padded < n) padded *= 2;
  padded = group.most(padded);
  for (Index k = n + group.lane(); k < padded; k += group.lanes()) keys[k] = largest;
  for (Index run = 2; run <= padded; run *= 2)
    for (Index apart = run / 2; apart > 0; apart /= 2) {
      group.sync();
      for (Index pair = group.lane(); pair < padded / 2; pair += group.lanes()) {
        Index const low = 2 * pair - pair % apart, high = low + apart;
        bool const ascending = (low & run) == 0;
        Index const x = keys[low], y = keys[high];
        if ((x > y) == ascending) keys[low] = y, keys[high] = x;
      }
    }
  group.sync();
}

/// make(first) is what n groups do from `first` on. The host looks whether it is to end between
/// stretches of them; a device has them all queued in a moment.
template <class On, class Make>
void in_stretches(On& on, CancelFlag const& cancel, Offset n, int lanes, std::size_t bytes,
                  Make const& make) {
  constexpr Offset short_one = 2048;
  Offset const stretch = on.space() == Space::host ? short_one : n;
  for (Offset first = 0; first < n; first += stretch) {
    cancel.check();
    on.each_group(std::min(stretch, n - first), lanes, bytes, make(first));
  }
}

}  // namespace tcsolve::sparse
