// SPDX-License-Identifier: Apache-2.0
/// Speeds of a CUDA device as its driver reports them. Defined in core/cuda/device.cpp, or in
/// core/cuda_absent.cpp, where it throws NotBuilt.
#pragma once

#include <tcsolve/core/device.hpp>

namespace tcsolve::cuda {

/// 0: not known.
struct Speeds {
  double bandwidth = 0;      ///< of the memory, bytes a second by its clock and width
  double clock = 0;          ///< of the multiprocessors, Hz, at most
  int single_to_double = 0;  ///< FP32 operations in the time of one in FP64
};
Speeds speeds(Device&);

}  // namespace tcsolve::cuda
