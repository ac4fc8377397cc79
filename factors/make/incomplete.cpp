// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/incomplete.hpp>

namespace tcsolve {

std::shared_ptr<TriangularFactors const> transposed(TriangularFactors const& factors) {
  auto result = std::make_shared<TriangularFactors>();
  result->lower = transpose(factors.upper.view());
  result->upper = transpose(factors.lower.view());
  result->inverse_pivots = factors.inverse_pivots;
  result->pivot_blocks = transpose(factors.pivot_blocks.view());
  return result;
}

}  // namespace tcsolve
