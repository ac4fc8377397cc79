// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/bicgstab/ops.hpp>

namespace tcsolve::loop_rooms {

struct bicgstab {
  template <class T>
  using Loop = OpList<BicgDirection<T>, BicgHalf<T>, BicgFull<T>>;
  using Batch =
      OpList<BicgShadow<double>, BicgDirection<double>, BicgHalf<double>, BicgFull<double>>;
};

}  // namespace tcsolve::loop_rooms
