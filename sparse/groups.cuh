// SPDX-License-Identifier: Apache-2.0
/// Groups of lanes on the device (sparse/groups.hpp): parts of a warp, four warps a block at most.
#pragma once

#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/groups.hpp>

namespace tcsolve::cuda {

class Group {
 public:
  __device__ Group(int lanes, std::byte* scratch)
      : lane_(static_cast<int>(threadIdx.x) % lanes), lanes_(lanes), scratch_(scratch) {
    auto const first = threadIdx.x % 32 - static_cast<unsigned int>(lane_);
    mask_ = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << first;
  }
  __device__ int lane() const { return lane_; }
  __device__ int lanes() const { return lanes_; }
  __device__ void sync() const { __syncwarp(mask_); }
  __device__ std::byte* scratch() const { return scratch_; }

 private:
  int lane_, lanes_;
  unsigned int mask_;
  std::byte* scratch_;
};

template <class F>
__global__ void __launch_bounds__(128)
    each_group_kernel(std::int64_t n, int lanes, int bytes, F f) {
  extern __shared__ double staged[];
  int const groups = static_cast<int>(blockDim.x) / lanes,
            group = static_cast<int>(threadIdx.x) / lanes;
  std::int64_t const i = std::int64_t{blockIdx.x} * groups + group;
  if (i < n) f(Group(lanes, reinterpret_cast<std::byte*>(staged) + group * bytes), i);
}

class GroupConverter : public Converter {
 public:
  GroupConverter(Device& on, Arena& arena) : Converter(on, arena), on_(on) {}
  template <class F>
  void each_group(std::int64_t n, int lanes, std::size_t bytes, F const& f) {
    if (n == 0) return;
    bytes = (bytes + 15) / 16 * 16;
    // As many groups a block as 48 KB hold, which need not be asked for.
    auto const fit = static_cast<std::int64_t>((48 << 10) / std::max<std::size_t>(bytes, 1));
    std::int64_t const groups = std::clamp<std::int64_t>(fit, 1, 128 / lanes);
    auto* const kernel = each_group_kernel<F>;
    allow_shared(on_, kernel, groups * bytes);
    kernel<<<static_cast<unsigned int>((n + groups - 1) / groups),
             static_cast<unsigned int>(groups * lanes), groups * bytes, on_.stream>>>(
        n, lanes, static_cast<int>(bytes), f);
    check(cudaGetLastError());
  }

 private:
  Device& on_;
};

}  // namespace tcsolve::cuda
