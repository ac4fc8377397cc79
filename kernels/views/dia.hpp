// SPDX-License-Identifier: Apache-2.0
/// A matrix by diagonals as kernels see it (drawn in formats/dia.hpp).
#pragma once

#include <tcsolve/kernels/views/hole.hpp>

namespace tcsolve {

/// Entry (i, i + offset) is values[start + min(i, last)]. Beyond `last`, which is where a mirrored
/// diagonal ends, lies a hole.
struct DiaDiagonal {
  Offset start;
  Index offset;
  Index last;
};
static_assert(sizeof(DiaDiagonal) == 16);

template <class S>
struct DiaView {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  Index distinct = 0;  ///< diagonals
  Index count = 0;     ///< of the list, a multiple of four: the last ones are holes from end to end
  DiaDiagonal const* diagonals = nullptr;  // (count), by ascending offset
  DiaDiagonal const* list = nullptr;       // the same on the host
  S const* values = nullptr;
  Space space = Space::host;
};

}  // namespace tcsolve
