// SPDX-License-Identifier: Apache-2.0
/// What the steps of a cooperative kernel cost by themselves (kernels/steps.hpp).
#pragma once

#include <tcsolve/core/context.hpp>

namespace tcsolve::bench {

/// Microseconds of a step that does nothing, a barrier of the grid: the median of 20 kernels of
/// 1000.
double barrier_microseconds(Context&);

}  // namespace tcsolve::bench
