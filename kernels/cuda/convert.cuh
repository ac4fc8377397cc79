// SPDX-License-Identifier: Apache-2.0
/// The device as a backend of conversions (kernels/convert.hpp).
#pragma once

#include <cuda_pipeline_primitives.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <bit>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve::cuda {

template <class F>
__global__ void __launch_bounds__(256) each_kernel(std::int64_t n, F f) {
  std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) f(i);
}

/// The lanes of this thread's warp: it holds its own of each.
struct Warp {
  template <class T>
  struct Of {
    T mine;
    __device__ T& operator[](int) { return mine; }
    __device__ T const& operator[](int) const { return mine; }
  };
  template <class F>
  __device__ void each(F const& f) const {
    f(static_cast<int>(threadIdx.x % 32));
  }
  __device__ std::uint32_t least(Of<std::uint32_t> const& v) const {
    return __reduce_min_sync(0xffffffffu, v.mine);
  }
  __device__ std::int64_t sum(Of<std::uint32_t> const& v) const {
    std::uint32_t const low = __reduce_add_sync(0xffffffffu, v.mine & 0xffffu),
                        high = __reduce_add_sync(0xffffffffu, v.mine >> 16);
    return (std::int64_t{high} << 16) + low;
  }
  __device__ std::uint32_t rank(Of<std::uint32_t>& v) const {
    unsigned int const set = __ballot_sync(0xffffffffu, v.mine != 0);
    v.mine = static_cast<std::uint32_t>(__popc(set & ((1u << threadIdx.x % 32) - 1)));
    return static_cast<std::uint32_t>(__popc(set));
  }
};

template <class F>
__global__ void __launch_bounds__(128) each_warp_kernel(std::int64_t n, F f) {
  std::int64_t i = std::int64_t{blockIdx.x} * 4 + threadIdx.x / 32;
  if (i < n) f(Warp{}, i);
}

template <class F>
__global__ void __launch_bounds__(128) each_counted_warp_kernel(std::int32_t const* count, F f) {
  std::int64_t const n = *count, warps = std::int64_t{gridDim.x} * 4;
  for (std::int64_t i = std::int64_t{blockIdx.x} * 4 + threadIdx.x / 32; i < n; i += warps)
    f(Warp{}, i);
}

/// *to = *from, to shared memory: without a register in between, so that all of a warp's are on
/// their way at once. They are there after __pipeline_wait_prior(0).
template <class E>
__device__ void stage(E* to, E const* from) {
  if constexpr (sizeof(E) >= 4)
    __pipeline_memcpy_async(to, from, sizeof(E));
  else
    *to = *from;
}

/// A warp a block: its 32 rows' entries come to shared memory, if no more than `capacity`.
template <class S, class F>
__global__ void __launch_bounds__(32)
    each_row_kernel(std::int64_t n, CsrView<S> a, int capacity, F f) {
  extern __shared__ double staged[];
  std::int64_t const first = std::int64_t{blockIdx.x} * 32, i = first + threadIdx.x;
  std::int64_t const rows = a.rows;
  Offset const begin = a.offsets[first < rows ? first : rows],
               count = a.offsets[first + 32 < rows ? first + 32 : rows] - begin;
  if (count <= capacity) {
    S* const values = reinterpret_cast<S*>(staged);
    auto* const columns = reinterpret_cast<std::int32_t*>(values + capacity);
    int const all = static_cast<int>(count);
#pragma unroll 8
    for (int k = threadIdx.x; k < all; k += 32) stage(columns + k, a.columns + begin + k);
#pragma unroll 8
    for (int k = threadIdx.x; k < all; k += 32) stage(values + k, a.values + begin + k);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    a.columns = columns - begin, a.values = values - begin;
  }
  if (i < n) f(a, i);
}

class Converter {
 public:
  Converter(Device& on, Arena& arena) : on_(on), scope_(arena.scope()) {}
  Space space() const { return Space::cuda; }

  template <class F>
  void each(std::int64_t n, F const& f) {
    if (n == 0) return;
    each_kernel<<<static_cast<unsigned int>((n + 255) / 256), 256, 0, on_.stream>>>(n, f);
    check(cudaGetLastError());
  }
  template <class S, class F>
  void each_row(std::int64_t n, CsrView<S> const& a, F const& f) {
    if (n == 0) return;
    // A quarter more than the mean, a multiple of four; 48 KB at most.
    constexpr Offset most = 48 * 1024 / (sizeof(S) + 4) / 4 * 4;
    Offset const mean = a.rows > 0 ? 32 * a.entries / a.rows : 0;
    auto const capacity = static_cast<int>(std::min(most, (mean + mean / 4 + 35) / 4 * 4));
    each_row_kernel<<<static_cast<unsigned int>((n + 31) / 32), 32, capacity*(sizeof(S) + 4),
                      on_.stream>>>(n, a, capacity, f);
    check(cudaGetLastError());
  }
  template <class F>
  void each_warp(std::int64_t n, F const& f) {
    if (n == 0) return;
    each_warp_kernel<<<static_cast<unsigned int>((n + 3) / 4), 128, 0, on_.stream>>>(n, f);
    check(cudaGetLastError());
  }
  /// As many warps as run at once, each of which takes its share.
  template <class F>
  void each_warp(std::int32_t const* count, std::int64_t n, F const& f) {
    if (n == 0) return;
    auto const blocks = std::min<std::int64_t>((n + 3) / 4, 2 * on_.max_blocks);
    each_counted_warp_kernel<<<static_cast<unsigned int>(blocks), 128, 0, on_.stream>>>(count, f);
    check(cudaGetLastError());
  }
  template <class T, class Add>
  void scan(T const* in, T* out, std::int64_t n, Add const& add) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveScan(nullptr, bytes, in, out, add, T{}, n, on_.stream));
    void* work = take<std::byte>(bytes);
    check(cub::DeviceScan::ExclusiveScan(work, bytes, in, out, add, T{}, n, on_.stream));
  }
  template <class V>
  void sort(std::uint32_t* key, V* value, std::int64_t n, std::uint32_t keys) {
    if (n == 0) return;
    cub::DoubleBuffer<std::uint32_t> key_buffer(key, take<std::uint32_t>(n));
    cub::DoubleBuffer<V> value_buffer(value, take<V>(n));
    std::size_t bytes = 0;
    int bits = std::bit_width(keys);
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key_buffer, value_buffer, n, 0, bits,
                                          on_.stream));
    void* work = take<std::byte>(bytes);
    check(cub::DeviceRadixSort::SortPairs(work, bytes, key_buffer, value_buffer, n, 0, bits,
                                          on_.stream));
    if (key_buffer.Current() != key) copy(key_buffer.Current(), key, n);
    if (value_buffer.Current() != value) copy(value_buffer.Current(), value, n);
  }
  template <class T>
  void read(T const* from, T* to, std::int64_t n) {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, on_.stream));
    check(cudaStreamSynchronize(on_.stream));
  }
  template <class T>
  void write(T const* from, T* to, std::int64_t n) {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, on_.stream));
    check(cudaStreamSynchronize(on_.stream));
  }
  template <class T>
  void clear(T* p, std::int64_t n) {
    check(cudaMemsetAsync(p, 0, n * sizeof(T), on_.stream));
  }
  template <class T>
  T* take(std::size_t n) {
    return scope_.template take<T>(n);
  }

 private:
  template <class T>
  void copy(T const* from, T* to, std::int64_t n) {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, on_.stream));
  }
  Device& on_;
  Arena::Scope scope_;
};

}  // namespace tcsolve::cuda
