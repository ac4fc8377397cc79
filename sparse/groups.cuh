// SPDX-License-Identifier: Apache-2.0
/// Groups of lanes on the device (sparse/groups.hpp): threads, and warps.
#pragma once

#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/groups.hpp>

namespace tcsolve::cuda {

/// A thread, whose lists lie interleaved with those of its block.
class ThreadGroup {
 public:
  static constexpr int threads = 64;  ///< of a block: 768 bytes each make 48 KB
  __device__ explicit ThreadGroup(std::byte* block) : block_(block) {}
  __device__ static constexpr int lane() { return 0; }
  __device__ static constexpr int lanes() { return 1; }
  __device__ static void sync() {}
  template <class T>
  __device__ sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(block_ + at * threads) + threadIdx.x, threads};
  }

 private:
  std::byte* block_;
};

class WarpGroup {
 public:
  __device__ explicit WarpGroup(std::byte* scratch) : scratch_(scratch) {}
  __device__ static int lane() { return static_cast<int>(threadIdx.x % 32); }
  __device__ static constexpr int lanes() { return 32; }
  __device__ static void sync() { __syncwarp(); }
  template <class T>
  __device__ sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  std::byte* scratch_;
};

template <class F>
__global__ void __launch_bounds__(ThreadGroup::threads) each_thread_kernel(std::int64_t n, F f) {
  extern __shared__ double staged[];
  std::int64_t const i = std::int64_t{blockIdx.x} * ThreadGroup::threads + threadIdx.x;
  if (i < n) f(ThreadGroup(reinterpret_cast<std::byte*>(staged)), i);
}

template <class F>
__global__ void __launch_bounds__(128) each_warp_group_kernel(std::int64_t n, int bytes, F f) {
  extern __shared__ double staged[];
  int const warps = static_cast<int>(blockDim.x / 32), warp = static_cast<int>(threadIdx.x / 32);
  std::int64_t const i = std::int64_t{blockIdx.x} * warps + warp;
  if (i < n) f(WarpGroup(reinterpret_cast<std::byte*>(staged) + std::size_t(warp) * bytes), i);
}

class GroupConverter : public Converter {
 public:
  GroupConverter(Device& on, Arena& arena) : Converter(on, arena), on_(on) {}
  template <class F>
  void each_group(std::int64_t n, int lanes, std::size_t bytes, F const& f) {
    if (n == 0) return;
    bytes = (bytes + 15) / 16 * 16;
    if (lanes == 1) {
      constexpr int threads = ThreadGroup::threads;
      auto* const kernel = each_thread_kernel<F>;
      allow_shared(on_, kernel, threads * bytes);
      kernel<<<static_cast<unsigned int>((n + threads - 1) / threads), threads, threads * bytes,
               on_.stream>>>(n, f);
    } else {
      // As many warps a block as 48 KB hold, which need not be asked for.
      auto const fit = static_cast<std::int64_t>((48 << 10) / std::max<std::size_t>(bytes, 1));
      std::int64_t const warps = std::clamp<std::int64_t>(fit, 1, 4);
      auto* const kernel = each_warp_group_kernel<F>;
      allow_shared(on_, kernel, warps * bytes);
      kernel<<<static_cast<unsigned int>((n + warps - 1) / warps),
               static_cast<unsigned int>(warps * 32), warps * bytes, on_.stream>>>(
          n, static_cast<int>(bytes), f);
    }
    check(cudaGetLastError());
  }

 private:
  Device& on_;
};

}  // namespace tcsolve::cuda
