// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/generate/renumber.hpp>

#include <tcsolve/io/hash.hpp>

#include <numeric>
#include <utility>

namespace tcsolve {

Permutation random_permutation(Index n, std::uint64_t seed) {
  std::vector<Index> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  for (auto i = numbers.size(); i-- > 1;) std::swap(numbers[i], numbers[mix(seed + i) % (i + 1)]);
  return Permutation(std::move(numbers)).inverse();
}

}  // namespace tcsolve
