// SPDX-License-Identifier: Apache-2.0
/// The order between a Device's stream and its caller's.
#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/rank_link.hpp>
#include <tcsolve/core/own_stream.hpp>

namespace tcsolve::cuda {

void synchronize(Device& on) {
  Current const current(on);
  wait(on, on.stream);
}

namespace {
cudaStream_t stream_of_caller(void* stream) {
  return stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream);
}
}  // namespace

void wait_for(Device& on, void* of_caller) {
  Current const current(on);
  BesideCaptures const beside;
  cudaGetLastError();  // the caller's, not ours
  cudaStream_t const stream = stream_of_caller(of_caller);
  if (captured(on.stream)) return;  // what follows becomes part of that graph
  if (captured(stream))
    throw Unsupported(
        of_caller != nullptr
            ? cat("the caller's stream is being captured: ", not_capturable)
            : cat("a stream is being captured, beside which the default stream cannot be waited "
                  "for: ",
                  not_capturable, ", or name the stream of b and x in ContextOptions::stream"));
  check(cudaEventRecord(on.order, stream));
  check(cudaStreamWaitEvent(on.stream, on.order, 0));
}

OwnStream::OwnStream(int ordinal) : ordinal_(ordinal) {
  Current const current(ordinal_);
  BesideCaptures const beside;
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  stream_ = made;
}

OwnStream::~OwnStream() {
  Current const current(ordinal_);
  BesideCaptures const beside;
  if (cudaStreamDestroy(static_cast<cudaStream_t>(stream_)) != cudaSuccess) cudaGetLastError();
}

void OwnStream::synchronize() const {
  Current const current(ordinal_);
  BesideCaptures const beside;
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
}

void let_wait(Device& on, void* of_caller) noexcept {
  Current const current(on);
  BesideCaptures const beside;
  cudaStream_t const stream = stream_of_caller(of_caller);
  if (captured(on.stream)) return;
  if (captured(stream)) {  // no event can be waited for there: the host waits instead
    cudaStreamSynchronize(on.stream);
    cudaGetLastError();
    return;
  }
  if (cudaEventRecord(on.order, on.stream) != cudaSuccess ||
      cudaStreamWaitEvent(stream, on.order, 0) != cudaSuccess)
    cudaGetLastError();  // of a device that has met an error
}

}  // namespace tcsolve::cuda
