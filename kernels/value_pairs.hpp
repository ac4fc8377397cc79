// SPDX-License-Identifier: Apache-2.0
/// The types of stored values and of vectors that go together, for explicit instantiations:
/// X(S, T).
#pragma once

#include <tcsolve/core/half.hpp>

#define TCSOLVE_VALUE_PAIRS(X) \
  X(double, double)            \
  X(float, double)             \
  X(half, double)              \
  X(float, float)              \
  X(half, float)
