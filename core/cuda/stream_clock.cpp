// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/stream_clock.hpp>

#include <cstddef>
#include <utility>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

struct StreamClock::Events {
  explicit Events(Device& device) : on(device) {}
  ~Events() {
    Current const current(on);
    for (cudaEvent_t event : all) cudaEventDestroy(event);
  }
  Device& on;
  std::vector<cudaEvent_t> all;  // made when they are needed, kept
  std::size_t count = 0;         // of them that are points
};

StreamClock::StreamClock(Device& on) : events_(std::make_unique<Events>(on)) {}
StreamClock::~StreamClock() = default;

bool StreamClock::mark() {
  Events& e = *events_;
  Current const current(e.on);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(e.on.stream, &status));
  if (status != cudaStreamCaptureStatusNone) return false;
  if (e.count == e.all.size()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    e.all.push_back(event);
  }
  check(cudaEventRecord(e.all[e.count], e.on.stream));
  ++e.count;
  return true;
}

std::vector<double> StreamClock::seconds() {
  Events& e = *events_;
  std::vector<double> between;
  if (e.count < 2) return between;
  Current const current(e.on);
  check(cudaEventSynchronize(e.all[e.count - 1]));
  for (std::size_t k = 1; k < e.count; ++k) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, e.all[k - 1], e.all[k]));
    between.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  std::swap(e.all[0], e.all[e.count - 1]);
  e.count = 1;
  return between;
}

}  // namespace tcsolve::cuda
