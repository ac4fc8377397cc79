// SPDX-License-Identifier: Apache-2.0
/// CUDA's error codes as exceptions.
#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/faults.hpp>

namespace tcsolve::cuda {

namespace {

std::string place(std::source_location const& where) {
  std::string file = where.file_name();
  return cat(file.substr(file.find_last_of('/') + 1), ":", where.line(), " in ",
             where.function_name());
}

}  // namespace

void check(cudaError_t code, std::source_location where) {
  if (code == cudaSuccess) {
    if (!faults::device_call_fails()) return;
    code = cudaErrorLaunchFailure;
  }
  cudaGetLastError();  // a failed call must not be reported a second time by the next one
  std::string text = cat("CUDA: ", cudaGetErrorName(code), " (", static_cast<int>(code), "), ",
                         cudaGetErrorString(code), "; ", place(where));
  if (code == cudaErrorMemoryAllocation) throw MemoryError(text);
  if (code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread)
    throw Unsupported(cat(text, "; ", not_capturable));
  throw DeviceError(text);
}

}  // namespace tcsolve::cuda
