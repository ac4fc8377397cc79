// SPDX-License-Identifier: Apache-2.0
/// Random choices that are the same on every machine: the distributions of the standard library are
/// not.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace tcsolve::fuzz {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  /// In [0, 1).
  double uniform() { return double(bits_() >> 11) * 0x1p-53; }
  bool chance(double p) { return uniform() < p; }
  /// In [0, n).
  int below(int n) { return int(uniform() * n); }
  int between(int low, int high) { return low + below(high - low + 1); }
  /// About a unit: a few bits, so that sums meet exactly now and then, or all of them.
  double number() {
    double const v = chance(0.3) ? between(-4, 4) : 4 * uniform() - 2;
    return chance(0.03) ? std::ldexp(v, between(-60, 60)) : v;
  }
  template <std::size_t n>
  char const* one_of(char const* const (&words)[n]) {
    return words[below(int(n))];
  }
  std::string const& one_of(std::vector<std::string> const& words) {
    return words[std::size_t(below(int(words.size())))];
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace tcsolve::fuzz
