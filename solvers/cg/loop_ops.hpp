// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/cg/ops.hpp>

namespace tcsolve::loop_rooms {

struct cg {
  template <class T>
  using Loop = OpList<Extend<T>, Descend<T>>;
  using Batch =
      OpList<Extend<double>, Descend<double>, CgStart<double>, CgFinish<double>, CgExplain<double>>;
};

}  // namespace tcsolve::loop_rooms
