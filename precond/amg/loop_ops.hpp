// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/kernels/smoothing_step.hpp>
#include <tcsolve/precond/amg/ops.hpp>

namespace tcsolve::loop_rooms {

struct amg {
  template <class T>
  using Loop = OpList<SmoothingStep<T>, ScaleRows<T, T>, SymmetricProduct<T>>;
  using Batch = OpList<>;
};

}  // namespace tcsolve::loop_rooms
