// SPDX-License-Identifier: Apache-2.0
/// Tests that run once on each backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/solve_backend.hpp"

namespace tcsolve::test {

/// A Context on the host, or on the device where there is one.
class OnEachBackend : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    TCSOLVE_SKIP_IF_ABSENT(GetParam());
    context_ = std::make_unique<Context>(GetParam());
  }
  Context& ctx() { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};
#define TCSOLVE_ON_EACH_BACKEND(suite)                          \
  INSTANTIATE_TEST_SUITE_P(                                     \
      at, suite, testing::Values(Backend::host, Backend::cuda), \
      [](auto const& info) { return std::string(info.param == Backend::host ? "host" : "cuda"); })

}  // namespace tcsolve::test
