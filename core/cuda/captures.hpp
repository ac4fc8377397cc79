// SPDX-License-Identifier: Apache-2.0
/// What may be done while a stream is being captured into a graph.
#pragma once

#include <cuda_runtime.h>

namespace tcsolve::cuda {

inline constexpr char const* not_capturable =
    "a setup or a solve cannot be part of a captured graph: its driver looks at residuals on the "
    "host; solve outside of the capture";

/// For the length of a scope this thread may take memory and wait, though it or another thread is
/// capturing a stream of its own.
class BesideCaptures {
 public:
  BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCaptures(BesideCaptures const&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// True where work in the stream is being captured.
inline bool captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaError_t const code = cudaStreamIsCapturing(stream, &status);
  if (code == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return code == cudaErrorStreamCaptureImplicit;  // the legacy stream beside a capture
}

}  // namespace tcsolve::cuda
