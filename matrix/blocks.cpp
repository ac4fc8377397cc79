// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/blocks.hpp>

#include <algorithm>

namespace tcsolve {

std::vector<Index> uniform_blocks(Index rows, Index block) {
  std::vector<Index> starts;
  starts.reserve(static_cast<std::size_t>(rows / block) + 2);
  for (Index i = 0; i < rows; i += block) starts.push_back(i);
  starts.push_back(rows);
  return starts;
}

std::vector<Index> natural_blocks(Pattern const& a, Index max_block) {
  std::vector<Index> starts;
  for (Index i = 0; i < a.rows;) {
    starts.push_back(i);
    Index end = i + 1;
    while (end < a.rows && end - i < max_block && std::ranges::equal(a.row(i), a.row(end))) ++end;
    i = end;
  }
  starts.push_back(a.rows);
  starts.shrink_to_fit();
  bool const few = static_cast<Index>(starts.size()) - 1 > a.rows / 2 + 1;
  return few ? std::vector<Index>() : starts;
}

}  // namespace tcsolve
