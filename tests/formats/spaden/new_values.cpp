// SPDX-License-Identifier: Apache-2.0
/// New values of narrow types in spaden, which scales what would leave their range.
#include <tcsolve/formats/spaden/operator.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/new_values.hpp"

namespace tcsolve::test {
namespace {

class SpadenNewValues : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(On, SpadenNewValues, ::testing::ValuesIn(backends()),
                         [](auto const& info) { return label(info.param); });

TEST_P(SpadenNewValues, AreScaledAnew) {
  std::unique_ptr<Context> ctx;
  open_context(GetParam(), ctx);
  if (!ctx) return;
  are_scaled_anew<SpadenOperator<double, half>, double, half>(*ctx);
  are_scaled_anew<SpadenOperator<float, half>, float, half>(*ctx);
  are_scaled_anew<SpadenOperator<double, bfloat16>, double, bfloat16>(*ctx);
}

}  // namespace
}  // namespace tcsolve::test
