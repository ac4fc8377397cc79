// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace tcsolve {

/// A number for each level of memory: operations of a product for a byte that comes from it, or the
/// bytes a second that it gives.
struct Levels {
  double memory = 0;  ///< device memory
  double cache = 0;   ///< the second-level cache
  double shared = 0;  ///< shared memory or the first-level caches, of all multiprocessors

  bool operator==(Levels const&) const = default;
};

/// Operations a second at most: the lowest of the rooflines.
inline double roofline(Levels const& intensity, Levels const& bandwidth) {
  return std::min({intensity.memory * bandwidth.memory, intensity.cache * bandwidth.cache,
                   intensity.shared * bandwidth.shared});
}

}  // namespace tcsolve
