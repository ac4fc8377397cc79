// SPDX-License-Identifier: Apache-2.0
/// What a Context has been warned of.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/core/context.hpp>

namespace tcsolve::test {

struct HeardWarnings : Observer {
  using Observer::on;
  void on(LogEvent const& event) override {
    if (event.severity == Severity::warning) texts.emplace_back(event.text);
  }
  std::vector<std::string> texts;
};

}  // namespace tcsolve::test
