// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/cg/ops.hpp>

namespace tcsolve::loop_rooms {

struct cg {
  template <class T>
  using Loop = OpList<UpdateDirection<T>, UpdateResidual<T>>;
  using Batch = OpList<UpdateDirection<double>, UpdateResidual<double>, CgStart<double>,
                       CgComplete<double>, CgClassifyStop<double>>;
};

}  // namespace tcsolve::loop_rooms
