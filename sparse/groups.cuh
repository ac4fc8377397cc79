// SPDX-License-Identifier: Apache-2.0
/// Groups of lanes on the device (sparse/groups.hpp): threads, parts of warps, warps and blocks.
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
  template <class N>
  __device__ static N most(N n) {
    return n;
  }
  template <class T>
  __device__ sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(block_ + at * threads) + threadIdx.x, threads};
  }

 private:
  std::byte* block_;
};

/// All of a warp, or of a block of more threads.
template <int width>
class WholeGroup {
 public:
  __device__ explicit WholeGroup(std::byte* scratch) : scratch_(scratch) {}
  __device__ static int lane() { return static_cast<int>(threadIdx.x % width); }
  __device__ static constexpr int lanes() { return width; }
  __device__ static void sync() {
    if constexpr (width == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  template <class N>
  __device__ static N most(N n) {
    return n;
  }
  template <class T>
  __device__ sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  std::byte* scratch_;
};
using WarpGroup = WholeGroup<32>;
using BlockGroup = WholeGroup<sparse::block_lanes>;

/// Eight lanes of a warp, of which there may be fewer groups at the end.
class PartGroup {
 public:
  static constexpr int width = 8;
  __device__ PartGroup(std::byte* scratch, unsigned int all) : scratch_(scratch), all_(all) {}
  __device__ static int lane() { return static_cast<int>(threadIdx.x % width); }
  __device__ static constexpr int lanes() { return width; }
  __device__ void sync() const { __syncwarp(all_); }
  template <class N>
  __device__ N most(N n) const {
    return static_cast<N>(__reduce_max_sync(all_, static_cast<unsigned int>(n)));
  }
  template <class T>
  __device__ sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  std::byte* scratch_;
  unsigned int all_;  // lanes of the warp whose groups have something to do
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

template <class F>
__global__ void __launch_bounds__(128) each_part_kernel(std::int64_t n, int bytes, F f) {
  extern __shared__ double staged[];
  int const group = static_cast<int>(threadIdx.x) / PartGroup::width;
  std::int64_t const i = std::int64_t{blockIdx.x} * (blockDim.x / PartGroup::width) + group;
  unsigned int const all = __ballot_sync(0xffffffffu, i < n);
  if (i < n)
    f(PartGroup(reinterpret_cast<std::byte*>(staged) + std::size_t(group) * bytes, all), i);
}

template <class F>
__global__ void __launch_bounds__(sparse::block_lanes) each_block_kernel(std::int64_t, F f) {
  extern __shared__ double staged[];
  f(BlockGroup(reinterpret_cast<std::byte*>(staged)), std::int64_t{blockIdx.x});
}

class GroupConverter : public Converter {
 public:
  GroupConverter(Device& on, Arena& arena) : Converter(on, arena), on_(on) {}
  template <class F>
  void each_group(std::int64_t n, int lanes, std::size_t bytes, F const& f) {
    bytes = (bytes + 15) / 16 * 16;
    auto const strip = static_cast<int>(bytes);
    if (lanes == 1)
      return launch(each_thread_kernel<F>, ThreadGroup::threads, ThreadGroup::threads, bytes, n, f);
    int const of_warp = lanes == PartGroup::width ? 32 / PartGroup::width : 1;
    // As many warps a block as 48 KB hold, which need not be asked for.
    auto const fit = static_cast<int>((48 << 10) / std::max<std::size_t>(of_warp * bytes, 1));
    int const warps = std::clamp(fit, 1, 4), groups = warps * of_warp;
    if (of_warp > 1)
      launch(each_part_kernel<F>, 32 * warps, groups, bytes, n, strip, f);
    else
      launch(each_warp_group_kernel<F>, 32 * warps, groups, bytes, n, strip, f);
  }
  template <class F>
  void each_block(std::int64_t n, std::size_t bytes, F const& f) {
    launch(each_block_kernel<F>, sparse::block_lanes, 1, bytes, n, f);
  }

 private:
  /// Blocks of so many threads and groups, `bytes` for each group.
  template <class... Arguments>
  void launch(void (*kernel)(std::int64_t, Arguments...), int threads, int groups,
              std::size_t bytes, std::int64_t n, Arguments const&... arguments) {
    if (n == 0) return;
    allow_shared(on_, kernel, groups * bytes);
    kernel<<<static_cast<unsigned int>((n + groups - 1) / groups),
             static_cast<unsigned int>(threads), groups * bytes, on_.stream>>>(n, arguments...);
    check(cudaGetLastError());
  }
  Device& on_;
};

}  // namespace tcsolve::cuda
