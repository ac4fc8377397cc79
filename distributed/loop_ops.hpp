// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/kernels/op_list.hpp>

namespace tcsolve::loop_rooms {

struct distributed {
  template <class T>
  using Loop = std::conditional_t<std::is_same_v<T, double>,
                                  OpList<SendRows<T>, AddOuterRows<T>, AddOuterRowsDot>, OpList<>>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
