// SPDX-License-Identifier: Apache-2.0
/// The sums of a rank's device on their way to those of all ranks, where no kernel reaches another
/// rank's memory (core/cuda/rank_link.hpp). The operation that has them is cut in two around an
/// all-gather:
///
///     first half    mine   | left | word | s_0 | s_1 | ..
///     all-gather    all    | that of rank 0 | that of rank 1 | ..
///     second half   s_k of rank 0 + s_k of rank 1 + ..       in rank order, the same bits on all
///
/// left    not 0: there is something to go on with. An operation that a stopped loop skips leaves
///         nothing, on all ranks alike
/// word    what the host wants of the loop (LoopState::cancel); the largest is what all do
#pragma once

#include <cstdint>

#include <tcsolve/core/portable.hpp>

namespace tcsolve {

struct SumsApart {
  static constexpr int head = 2, room = 1 << 15;  ///< words before the sums; sums at once, at most
  double* mine = nullptr;                         ///< (head + room); null: nothing is cut
  double const* all = nullptr;                    ///< (ranks, head + count)
  int ranks = 0;

  TCSOLVE_HD bool cut() const { return mine != nullptr; }

  /// First half: each sum, and then, by one thread, that all of them are there.
  TCSOLVE_HD void leave(int k, double sum) const { mine[head + k] = sum; }
  TCSOLVE_HD void seal(std::int32_t word) const { mine[0] = 1, mine[1] = word; }

  /// Second half, of `count` sums: whether there is one, sum k of a rank, the word of all; then, by
  /// one thread, that nothing is left.
  TCSOLVE_HD bool left() const { return mine[0] != 0; }
  TCSOLVE_HD double of(int rank, int k, int count) const {
    return all[std::int64_t{rank} * (head + count) + head + k];
  }
  TCSOLVE_HD std::int32_t agreed(int count) const {
    double largest = 0;
    for (int r = 0; r < ranks; ++r)
      if (double const word = of(r, 1 - head, count); word > largest) largest = word;
    return static_cast<std::int32_t>(largest);
  }
  TCSOLVE_HD void end() const { mine[0] = 0; }
};

}  // namespace tcsolve
