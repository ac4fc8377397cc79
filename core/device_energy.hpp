// SPDX-License-Identifier: Apache-2.0
/// What a CUDA device has consumed. Defined in core/cuda/clocks.cpp, or in core/cuda_absent.cpp,
/// where it throws NotBuilt.
#pragma once

#include <tcsolve/core/device.hpp>

namespace tcsolve::cuda {

/// Joules of the whole device since its driver was loaded, as NVML counts them (Volta and later);
/// NaN where it does not tell.
double consumed_joules(Device&);

}  // namespace tcsolve::cuda
