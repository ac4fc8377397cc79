// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::loop_rooms {

struct sell {
  template <class T>
  using Loop = ForLoopValues<T, SellMultiply, SellMultiplyDot>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
