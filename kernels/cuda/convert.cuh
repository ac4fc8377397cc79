// SPDX-License-Identifier: Apache-2.0
/// The device as a backend of conversions (kernels/convert.hpp).
#pragma once

#include <cuda_pipeline_primitives.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

#include <algorithm>
#include <bit>
#include <limits>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/shared_memory.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>

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

/// The same of `count` values from `begin` on; returns where value 0 would lie. Narrow ones go in
/// pairs, which begin with an even one.
template <class S>
__device__ S const* stage_values(S* to, S const* from, Offset begin, int count) {
  int const lane = threadIdx.x % 32;
  if constexpr (sizeof(S) == 2) {
    if (reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
      Offset const first = begin / 2, end = begin + count;
      auto const* const pairs = reinterpret_cast<std::uint32_t const*>(from) + first;
      auto* const here = reinterpret_cast<std::uint32_t*>(to);
      int const whole = static_cast<int>(end / 2 - first);
#pragma unroll 8
      for (int k = lane; k < whole; k += 32) stage(here + k, pairs + k);
      if (end % 2 == 1 && lane == 0) to[end - 1 - 2 * first] = from[end - 1];
      return to - 2 * first;
    }
  }
#pragma unroll 8
  for (int k = lane; k < count; k += 32) stage(to + k, from + begin + k);
  return to - begin;
}

/// The largest of a warp's, none of them negative; NaN wins.
__device__ inline double warp_largest(double v) {
  auto const bits = static_cast<unsigned long long>(__double_as_longlong(v)) & ~0ull >> 1;
  auto const high = static_cast<std::uint32_t>(bits >> 32);
  std::uint32_t const most = __reduce_max_sync(0xffffffffu, high);
  std::uint32_t const low =
      __reduce_max_sync(0xffffffffu, high == most ? static_cast<std::uint32_t>(bits) : 0u);
  return __hiloint2double(static_cast<int>(most), static_cast<int>(low));
}

/// 32 rows a warp: their values, and columns, come to shared memory, if fewer than `capacity`,
/// which is a multiple of four. A block has one warp or two: a multiprocessor has 32 blocks, and 64
/// warps.
template <bool with_columns, class S, class F>
__global__ void __launch_bounds__(64)
    each_row_kernel(std::int64_t n, CsrView<S> a, int capacity, double* norm, F f) {
  extern __shared__ double staged[];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  std::int64_t const first = (std::int64_t{blockIdx.x} * warps + warp) * 32, i = first + lane;
  std::int64_t const rows = a.rows;
  Offset const begin = a.offsets[first < rows ? first : rows],
               count = a.offsets[first + 32 < rows ? first + 32 : rows] - begin;
  if (count < capacity) {
    S* const values = reinterpret_cast<S*>(staged) + warp * capacity;
    int const all = static_cast<int>(count);
    if constexpr (with_columns) {
      auto* const columns =
          reinterpret_cast<std::int32_t*>(reinterpret_cast<S*>(staged) + warps * capacity) +
          warp * capacity;
#pragma unroll 8
      for (int k = lane; k < all; k += 32) stage(columns + k, a.columns + begin + k);
      a.columns = columns - begin;
    }
    a.values = stage_values(values, a.values, begin, all);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  if (i < n) f(a, i);
  if (norm == nullptr) return;
  double const largest = warp_largest(i < rows ? row_size(a, i) : 0.0);
  if (lane == 0) raise_to(norm, largest);
}

/// 32 k rows a warp, k a lane: their columns come to shared memory, if fewer than `capacity`.
template <class S, class F>
__global__ void __launch_bounds__(64)
    each_rows_of_columns_kernel(std::int64_t n, int k, CsrView<S> a, int capacity, F f) {
  extern __shared__ double staged[];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  std::int64_t const group = (std::int64_t{blockIdx.x} * warps + warp) * 32, I = group + lane;
  std::int64_t const rows = a.rows, first = group * k, past = first + 32 * k;
  Offset const begin = a.offsets[first < rows ? first : rows],
               count = a.offsets[past < rows ? past : rows] - begin;
  if (count < capacity) {
    auto* const columns = reinterpret_cast<Index*>(staged) + warp * capacity;
    a.columns = stage_values(columns, a.columns, begin, static_cast<int>(count));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  if (I < n) f(a, I);
}

class Converter {
 public:
  Converter(Device& on, Arena& arena) : on_(on), scope_(arena.scope()) {}
  Space space() const { return on_.space(); }

  template <class F>
  void each(std::int64_t n, F const& f) {
    if (n == 0) return;
    each_kernel<<<static_cast<unsigned int>((n + 255) / 256), 256, 0, on_.stream>>>(n, f);
    check(cudaGetLastError());
  }
  template <class S, class F>
  void each_row(std::int64_t n, CsrView<S> const& a, F const& f, RowsOf const& rows = {}) {
    staged_rows<true>(n, a, f, rows);
  }
  template <class S, class F>
  void each_row_of_values(std::int64_t n, CsrView<S> const& a, F const& f,
                          RowsOf const& rows = {}) {
    staged_rows<false>(n, a, f, rows);
  }
  template <class S, class F>
  void each_rows_of_columns(std::int64_t n, int k, CsrView<S> const& a, F const& f) {
    if (n == 0) return;
    // Shared memory for a quarter more entries than the mean, at most the 96 KB that every device
    // can give to a block, or none where that is too little for most warps.
    constexpr Offset most = 96 * 1024 / sizeof(Index);
    Offset const mean = a.rows > 0 ? 32 * k * a.entries / a.rows : 0;
    Offset const capacity = mean < most ? std::min(most, (mean + mean / 4 + 35) / 4 * 4) : 0;
    Offset const warps = 2 * capacity * sizeof(Index) <= 24 * 1024 ? 2 : 1;
    auto const bytes = static_cast<int>(warps * capacity * sizeof(Index));
    auto* const kernel = each_rows_of_columns_kernel<S, F>;
    allow_shared(on_, kernel, static_cast<std::size_t>(bytes));
    kernel<<<static_cast<unsigned int>((n + 32 * warps - 1) / (32 * warps)), 32 * warps, bytes,
             on_.stream>>>(n, k, a, static_cast<int>(capacity), f);
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
    // Before CUB 3 (CUDA 13) its count may be an int, which would be cut without a word.
    if (CUB_VERSION < 300000 && n > std::numeric_limits<int>::max())
      throw SizeError(
          cat("a conversion scans ", n, " numbers; built with CUDA 13 or newer it can"));
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
  template <bool with_columns, class S, class F>
  void staged_rows(std::int64_t n, CsrView<S> const& a, F const& f, RowsOf const& rows) {
    if (n == 0) return;
    // A quarter more than the mean, if there can be so many; 48 KB at most.
    constexpr Offset size = sizeof(S) + (with_columns ? 4 : 0), most = 48 * 1024 / size / 4 * 4;
    Offset const mean = a.rows > 0 ? 32 * a.entries / a.rows : 0;
    Offset const longest = rows.longest > 0 ? 32 * Offset{rows.longest} + 4 : most;
    Offset const capacity = std::min({most, longest, (mean + mean / 4 + 35) / 4 * 4});
    Offset const warps = 2 * capacity * size <= 24 * 1024 ? 2 : 1;
    each_row_kernel<with_columns>
        <<<static_cast<unsigned int>((n + 32 * warps - 1) / (32 * warps)), 32 * warps,
           warps * capacity * size, on_.stream>>>(n, a, static_cast<int>(capacity), rows.norm, f);
    check(cudaGetLastError());
  }
  template <class T>
  void copy(T const* from, T* to, std::int64_t n) {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, on_.stream));
  }
  Device& on_;
  Arena::Scope scope_;
};

}  // namespace tcsolve::cuda
