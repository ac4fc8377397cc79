// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::loop_rooms {

struct gmres {
  template <class T>
  using Loop = OpList<Gram<T>, ArnoldiUpdate<T>>;
  using Batch = OpList<Gram<double>, ArnoldiUpdate<double>, ArnoldiStart<double>, BackSubstitute,
                       CombineBasis<double>>;
};

}  // namespace tcsolve::loop_rooms
