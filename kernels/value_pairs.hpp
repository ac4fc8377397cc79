// SPDX-License-Identifier: Apache-2.0
/// The types that values are stored in, and those of values and vectors that go together, for
/// explicit instantiations: X(S) and X(S, T).
#pragma once

#include <tcsolve/core/half.hpp>

#define TCSOLVE_VALUES(X) X(double) X(float) X(half) X(bfloat16)

#define TCSOLVE_VALUE_PAIRS(X) \
  X(double, double)            \
  X(float, double)             \
  X(half, double)              \
  X(bfloat16, double)          \
  X(float, float)              \
  X(half, float)               \
  X(bfloat16, float)
