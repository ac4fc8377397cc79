// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE, which the library is measured beside and does not use.
#pragma once

#include <cusparse.h>

#include <source_location>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve::cuda {

inline void check(cusparseStatus_t code,
                  std::source_location where = std::source_location::current()) {
  if (code != CUSPARSE_STATUS_SUCCESS)
    throw DeviceError(cat("cuSPARSE: ", cusparseGetErrorString(code), "; ", where.file_name(), ":",
                          where.line()));
}

}  // namespace tcsolve::cuda

namespace tcsolve::bench {

/// A program's handle, in the stream of this device.
inline cusparseHandle_t cusparse(cuda::Device const& on) {
  static cusparseHandle_t const handle = [] {
    cusparseHandle_t made = nullptr;
    cuda::check(cusparseCreate(&made));
    return made;
  }();
  cuda::check(cusparseSetStream(handle, on.stream));
  return handle;
}

}  // namespace tcsolve::bench
