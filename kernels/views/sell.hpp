// SPDX-License-Identifier: Apache-2.0
/// SELL-32 with compressed column numbers as kernels see it (drawn in formats/sell.hpp).
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// 32 rows, stored step by step: entry j of lane l lies at start + 32 j + l.
struct SellSlice {
  Offset values;       ///< start among the values
  Offset indices;      ///< start among the deltas, or among the columns when `wide`
  Index base;          ///< smallest column of the slice
  std::int32_t width;  ///< entries of its longest row
  std::int32_t wide;   ///< 1: columns beyond base + 65535 occur
};

template <class S>
struct SellView {
  static constexpr int C = 32;  ///< rows of a slice

  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  SellSlice const* slices = nullptr;      // (ceil(rows / 32))
  Index const* lengths = nullptr;         // (rows) entries of each row
  std::uint16_t const* deltas = nullptr;  // column - base, of narrow slices
  std::int32_t const* columns = nullptr;  // of wide slices
  S const* values = nullptr;
  bool streams = false;  ///< larger than the cache: entries are read once and should not stay
  Space space = Space::host;
};

}  // namespace tcsolve
