// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/precond/block_jacobi/ops.hpp>

namespace tcsolve::loop_rooms {

struct block_jacobi {
  template <class T>
  using Loop = BlockJacobiOps<T>;
  using Batch = BlockJacobiOps<double>;
};

}  // namespace tcsolve::loop_rooms
