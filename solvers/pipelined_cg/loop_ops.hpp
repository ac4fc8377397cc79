// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/pipelined_cg/ops.hpp>

namespace tcsolve::loop_rooms {

struct pipelined_cg {
  template <class T>
  using Loop = PipelinedCgOps<T>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
