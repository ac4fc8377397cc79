// SPDX-License-Identifier: Apache-2.0
/// A numbering that takes away the order a generator or a mesh gives.
#pragma once

#include <tcsolve/graph/reorder/permutation.hpp>

#include <cstdint>

namespace tcsolve {

/// Drawn from the seed (Fisher and Yates; Durstenfeld 1964). Cost: n random accesses, serial.
Permutation random_permutation(Index n, std::uint64_t seed);

}  // namespace tcsolve
