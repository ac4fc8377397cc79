// SPDX-License-Identifier: Apache-2.0
/// Every config of the repository runs.
#include "tests/cli/program.hpp"

#include <algorithm>

namespace tcsolve::cli {
namespace {

std::vector<std::string> configs() {
  std::vector<std::string> found;
  for (auto const& file : fs::directory_iterator(source_dir() / "configs"))
    if (file.path().extension() == ".yaml") found.push_back(file.path().stem());
  std::sort(found.begin(), found.end());
  return found;
}

class Example : public Program, public testing::WithParamInterface<std::string> {};

TEST_P(Example, Converges) {
  fs::path const config = source_dir() / "configs" / (GetParam() + ".yaml");
  if (has(read_text(config), "\nsweep:\n")) {
    Outcome const many = tcsolve({"sweep", config, "--output", "out"});
    EXPECT_EQ(many.code, 0) << many.err << many.out;
    EXPECT_TRUE(has(many.verdict(), "solved")) << many.out;
    return;
  }
  Outcome const o = tcsolve({config, "--output", "out"});
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  bool const minimises = GetParam().find("least-squares") != std::string::npos;
  EXPECT_EQ(result("out")["verdict"]["outcome"], minimises ? "least_squares" : "converged");
}

INSTANTIATE_TEST_SUITE_P(Configs, Example, testing::ValuesIn(configs()), [](auto const& param) {
  std::string name = param.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace tcsolve::cli
