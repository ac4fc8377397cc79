// SPDX-License-Identifier: Apache-2.0
/// On the device the product of SELL-32 with a row-major block has a way of its own.
#pragma once

#include <tcsolve/formats/sell/ops.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>

namespace tcsolve::cuda {

#define TCSOLVE_DECLARE(S, T) \
  template <>                 \
  void execute(Device&, LoopState*, SellMultiply<S, T> const&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_DECLARE)
#undef TCSOLVE_DECLARE
/// One column, and the step that takes each of its rows.
template <class S, class T>
void multiply_then(Device&, LoopState*, SellMultiply<S, T> const&, SmoothingStep<T> const&);

}  // namespace tcsolve::cuda
