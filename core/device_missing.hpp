// SPDX-License-Identifier: Apache-2.0
/// What a CUDA device does without. Defined in core/cuda/device.cpp, or in core/cuda_absent.cpp,
/// where it throws NotBuilt.
#pragma once

#include <string>

#include <tcsolve/core/device.hpp>

namespace tcsolve::cuda {

/// A library that is not installed and what happens in its place, for the log; "" where nothing is
/// missing.
std::string missing(Device const&);

}  // namespace tcsolve::cuda
