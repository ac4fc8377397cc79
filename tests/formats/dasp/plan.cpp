// SPDX-License-Identifier: Apache-2.0
/// The parameters of dasp.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/register.hpp>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

TEST(DaspFormat, MultipliesInFp16OnlyWhatIsStoredSo) {
  OperatorRegistry registry{"operator", "format"};
  register_operators(registry);
  Catalog catalog;
  catalog.add(registry);
  auto const made = [&](std::string const& values) {
    Diagnostics problems;
    std::string const config = "{format: dasp, multiply: fp16, values: " + values + "}";
    return registry.make(parse_yaml(config, "test"), problems, catalog);
  };
  EXPECT_NO_THROW(made("fp16"));
  std::string const says = message_of<Unsupported>([&] { made("bf16"); });
  EXPECT_NE(says.find("`values: fp16`, not `bf16`"), std::string::npos) << says;
}

}  // namespace
}  // namespace tcsolve::test
