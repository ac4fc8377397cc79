// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/ops.hpp>

namespace tcsolve::loop_rooms {

struct driver {
  template <class T>
  using Loop = OpList<Observe>;
  using Batch = OpList<Observe, JudgeStart, JudgeZero, JudgeScale, JudgeCycle, JudgeTrial,
                       JudgeVerdict, JudgeAccept>;
};

}  // namespace tcsolve::loop_rooms
