// SPDX-License-Identifier: Apache-2.0
#include "plain_steps.hpp"

#include <algorithm>
#include <vector>

#include <tcsolve/kernels/cuda/steps.cuh>

namespace tcsolve::bench {
namespace {

struct Nothing {
  TCSOLVE_HD void operator()(std::int64_t) const {}
};
struct Barriers {
  int count;
  TCSOLVE_EITHER_SIDE
  template <class Steps>
  TCSOLVE_HD void operator()(Steps const& steps) const {
    for (int k = 0; k < count; ++k) steps.each(0, Nothing{});
  }
};

}  // namespace

double barrier_microseconds(Context& ctx) {
  cuda::Device& device = *ctx.device();
  cudaEvent_t begin, end;
  cuda::check(cudaEventCreate(&begin));
  cuda::check(cudaEventCreate(&end));
  auto const milliseconds = [&](int count) {
    cuda::SteppingConverter on(device, ctx.arena());
    cuda::check(cudaEventRecord(begin, device.stream));
    cuda::cooperate(on, Barriers{count});
    cuda::check(cudaEventRecord(end, device.stream));
    cuda::check(cudaEventSynchronize(end));
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin, end));
    return double(ms);
  };
  std::vector<double> times;
  for (int k = 0; k < 20; ++k) times.push_back(milliseconds(1001) - milliseconds(1));
  std::ranges::sort(times);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[times.size() / 2];  // ms of a thousand are us of one
}

}  // namespace tcsolve::bench
