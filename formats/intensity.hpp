// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace tcsolve {

/// Operations a byte of a product, by the level of memory that the byte comes from.
struct Intensity {
  double memory = 0;  ///< device memory
  double cache = 0;   ///< the second-level cache

  /// Operations a second at most: the lesser roofline, of bandwidths in bytes a second.
  double bound(double memory_bandwidth, double cache_bandwidth) const {
    return std::min(memory * memory_bandwidth, cache * cache_bandwidth);
  }
  bool operator==(Intensity const&) const = default;
};

}  // namespace tcsolve
