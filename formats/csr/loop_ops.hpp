// SPDX-License-Identifier: Apache-2.0
/// What interpreters of recordings run of this folder (solvers/loop/program.hpp).
#pragma once

#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::loop_rooms {

struct csr {
  template <class T>
  using Loop = ForLoopValues<T, CsrMultiply>;
  using Batch = OpList<CsrMultiply<double, double>, ExactResidual<CsrView<double>>>;
};

}  // namespace tcsolve::loop_rooms
