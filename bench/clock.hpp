// SPDX-License-Identifier: Apache-2.0
/// Times of short calls by events of the device.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include <tcsolve/core/cuda/device.hpp>

#include "plain_device.hpp"

namespace tcsolve::bench {

/// Medians of calls on a device, cold or hot.
class Clock {
 public:
  explicit Clock(cuda::Device& on) : on_(on), sweep_(Space::cuda, std::size_t{256} << 20) {
    cuda::check(cudaMemset(sweep_.data(), 0, sweep_.bytes()));
    cuda::check(cudaEventCreate(&begin_));
    cuda::check(cudaEventCreate(&end_));
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Clock(Clock const&) = delete;
  /// Median of `repetitions`, in us of one call.
  double median(int repetitions, bool cold, std::function<void()> const& f) {
    int calls = cold ? 1 : 10;
    for (int i = 0; i < 3; ++i) f();
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
      if (cold) bench::read_all(on_, sweep_.data(), sweep_.bytes());
      cuda::check(cudaEventRecord(begin_, on_.stream));
      for (int c = 0; c < calls; ++c) f();
      cuda::check(cudaEventRecord(end_, on_.stream));
      cuda::check(cudaEventSynchronize(end_));
      float ms = 0;
      cuda::check(cudaEventElapsedTime(&ms, begin_, end_));
      times.push_back(1e3 * ms / calls);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

 private:
  cuda::Device& on_;
  Array<std::byte> sweep_;
  cudaEvent_t begin_, end_;
};

}  // namespace tcsolve::bench
