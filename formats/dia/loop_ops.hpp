// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/formats/dia/ops.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::loop_rooms {

struct dia {
  template <class T>
  using Loop = ForLoopValues<T, DiaMultiply, DiaMultiplyDot>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
