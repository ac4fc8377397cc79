// SPDX-License-Identifier: Apache-2.0
/// cuBLAS for the plain loops. The library itself does without.
#pragma once

#include <cublas_v2.h>

#include <map>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

inline void check(cublasStatus_t code) {
  if (code != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(
        cat("cuBLAS: ", cublasGetStatusString(code), " (", static_cast<int>(code), ")"));
}

/// A handle on the Device's stream, made when first asked for and kept, as Devices are.
inline cublasHandle_t cublas(Device& on) {
  static std::map<Device*, cublasHandle_t> made;
  cublasHandle_t& handle = made[&on];
  if (handle == nullptr) {
    Current const current(on);
    check(cublasCreate(&handle));
    check(cublasSetStream(handle, on.stream));
  }
  return handle;
}

}  // namespace tcsolve::cuda
