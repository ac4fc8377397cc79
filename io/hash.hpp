// SPDX-License-Identifier: Apache-2.0
/// Counter-based pseudo-random numbers: a value is a function of its key alone, so that generated
/// matrices do not depend on the number of threads or on the order of evaluation.
#pragma once

#include <cstdint>

namespace tcsolve {

/// A bijection of 64-bit words that scatters neighbouring keys: the output function of SplitMix64
/// (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A number in [0, 1), a multiple of 2^-53, for each key.
constexpr double uniform(std::uint64_t key) {
  return static_cast<double>(mix(key) >> 11) * (1.0 / 9007199254740992.0);
}

/// The same for each pair of seed and key.
constexpr double uniform(std::uint64_t seed, std::uint64_t key) { return uniform(mix(seed) + key); }

}  // namespace tcsolve
