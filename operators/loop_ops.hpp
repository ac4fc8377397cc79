// SPDX-License-Identifier: Apache-2.0
/// What an interpreter can run of the operators around a format.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/operators/corrected_ops.hpp>

namespace tcsolve::loop_rooms {

struct operators {
  template <class T>
  using Loop = CorrectedOps<T>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
