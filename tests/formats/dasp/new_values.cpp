// SPDX-License-Identifier: Apache-2.0
/// New values of narrow types in dasp, which scales what would leave their range.
#include <tcsolve/formats/dasp/operator.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/new_values.hpp"

namespace tcsolve::test {
namespace {

class DaspNewValues : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(On, DaspNewValues, ::testing::ValuesIn(backends()),
                         [](auto const& info) { return label(info.param); });

TEST_P(DaspNewValues, AreScaledAnew) {
  std::unique_ptr<Context> ctx;
  open_context(GetParam(), ctx);
  if (!ctx) return;
  are_scaled_anew<DaspOperator<double, half>, double, half>(*ctx);
  are_scaled_anew<DaspOperator<float, half>, float, half>(*ctx);
  are_scaled_anew<DaspOperator<double, bfloat16>, double, bfloat16>(*ctx);
}

}  // namespace
}  // namespace tcsolve::test
