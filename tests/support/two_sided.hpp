// SPDX-License-Identifier: Apache-2.0
/// What lies around factors in tests: orders and scalings of both sides.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include <tcsolve/factors/arrange/arrangement.hpp>

#include "tests/support/matrices.hpp"

namespace tcsolve::test {

/// n rows and columns in random orders, scaled at random; the same in every run.
inline TwoSided sides(Index n) {
  TwoSided s;
  std::mt19937 draw(4);
  s.row.resize(static_cast<std::size_t>(n));
  std::iota(s.row.begin(), s.row.end(), Index{0});
  s.column = s.row;
  std::ranges::shuffle(s.row, draw);
  std::ranges::shuffle(s.column, draw);
  s.row_scale = random_values(s.row.size(), 1);
  s.column_scale = random_values(s.row.size(), 2);
  return s;
}

}  // namespace tcsolve::test
