// SPDX-License-Identifier: Apache-2.0
/// Steps on the device (kernels/steps.hpp): one cooperative kernel, a block of 1024 threads on each
/// multiprocessor; or a kernel a step.
#pragma once

#include <cooperative_groups.h>

#include <atomic>

#include <tcsolve/core/faults.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/steps.hpp>

namespace tcsolve::cuda {

/// A backend of conversions that can cooperate() as well.
class SteppingConverter : public Converter {
 public:
  SteppingConverter(Device& on, Arena& arena) : Converter(on, arena), device(on) {}
  Device& device;
};

constexpr int step_threads = 1024;

/// What the blocks of a grid share beside the body's memory, and what the warps of a block do.
struct StepMemory {
  Index* block_sums;  // (blocks)
};
struct StepShared {
  Index warp_sums[step_threads / 32];
  Index carry;
  Index appended[step_threads / 32 + 1];
  std::uint32_t value[32];
};

/// f of v, which groups of `lanes` lanes of a warp have, or -1: whether it is kept; true in one
/// lane of each. All lanes of the warp call it.
template <int lanes, class F>
__device__ bool picks(F const& f, Index v) {
  int const lane = static_cast<int>(threadIdx.x % lanes);
  auto most = v >= 0 ? f.part(v, lane, lanes) : decltype(f.part(v, lane, lanes)){};
#pragma unroll
  for (int d = 1; d < lanes; d *= 2) {
    auto const other = __shfl_xor_sync(0xffffffffu, most, d);
    most = other > most ? other : most;
  }
  return v >= 0 && f.end(v, most, lane, lanes) && lane == 0;
}
/// The v of the block's threads that are kept go to the end of the list, which moves once for all
/// of them.
template <int threads>
__device__ void append(bool keep, Index v, StepList const& to, Index (&shared)[threads / 32 + 1]) {
  if (__syncthreads_or(keep) == 0) return;
  unsigned int const kept = __ballot_sync(0xffffffffu, keep);
  unsigned int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) shared[warp] = __popc(kept);
  __syncthreads();
  if (warp == 0) {
    Index const here = lane < threads / 32 ? shared[lane] : 0;
    Index upto = here;
#pragma unroll
    for (int d = 1; d < threads / 32; d *= 2) {
      Index const other = __shfl_up_sync(0xffffffffu, upto, d);
      if (lane >= d) upto += other;
    }
    if (lane < threads / 32) shared[lane] = upto - here;
    if (lane == threads / 32 - 1) shared[threads / 32] = atomicAdd(to.count, upto);
  }
  __syncthreads();
  if (keep) to.items[shared[threads / 32] + shared[warp] + __popc(kept & ((1u << lane) - 1))] = v;
  __syncthreads();  // before they take what the next ones append
}
__device__ inline Index item_of(StepList const& from, std::int64_t i, std::int64_t n) {
  if (i >= n) return -1;
  return from.items != nullptr ? from.items[i] : static_cast<Index>(i);
}

/// As a thread of the cooperative kernel sees it, or of a kernel of one block.
template <bool of_grid>
class KernelSteps {
 public:
  __device__ KernelSteps(StepMemory const& memory, StepShared& shared)
      : memory_(memory), shared_(shared) {}

  template <class F>
  __device__ void each(std::int64_t n, F const& f) const {
    std::int64_t const threads = std::int64_t{gridDim.x} * step_threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * step_threads + threadIdx.x; i < n;
         i += threads)
      f(i);
    meet();
  }
  /// Neighbouring warps go to different multiprocessors, so that a few use them all.
  template <class F>
  __device__ void each_warp(std::int64_t n, F const& f) const {
    std::int64_t const warps = std::int64_t{gridDim.x} * (step_threads / 32);
    for (std::int64_t i = std::int64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x; i < n;
         i += warps)
      f(Warp{}, i);
    meet();
  }
  /// As each_warp() does, in as many turns as the block with most has.
  template <int lanes, class F>
  __device__ void pick(StepList const& from, StepList const& to, F const& f,
                       Index* clear = nullptr) const {
    std::int64_t const n = from.count != nullptr ? value(from.count) : from.most;
    std::int64_t const turn = std::int64_t{gridDim.x} * (step_threads / lanes);
    std::int64_t const mine =
        (std::int64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x) * (32 / lanes) +
        threadIdx.x % 32 / lanes;
    for (std::int64_t first = 0; first < n; first += turn) {
      Index const v = item_of(from, first + mine, n);
      bool const keep = picks<lanes>(f, v);
      if (to.items != nullptr) append<step_threads>(keep, v, to, shared_.appended);
    }
    if (clear != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *clear = 0;
    meet();
  }
  /// As many blocks as have 4096 elements each; one alone needs no sums of the others.
  __device__ void scan(Index const* in, Index* out, std::int64_t n) const {
    std::int64_t const wanted = (n + 4095) / 4096;
    std::int64_t const blocks = wanted < gridDim.x ? wanted : gridDim.x;
    std::int64_t const each = blocks > 0 ? (n + blocks - 1) / blocks : 0;
    std::int64_t const begin = blockIdx.x * each, end = begin + each < n ? begin + each : n;
    if (blocks > 1) {
      if (begin < n) {
        Index sum = 0;
        for (std::int64_t i = begin + threadIdx.x; i < end; i += step_threads) sum += in[i];
        Index const all = sum_of_block(sum);
        if (threadIdx.x == 0) memory_.block_sums[blockIdx.x] = all;
      }
      meet();
    }
    if (begin < n) {
      Index before = 0;
      for (unsigned int b = threadIdx.x; b < blockIdx.x; b += step_threads)
        before += as_left(memory_.block_sums + b);
      Index carry = sum_of_block(before);
      for (std::int64_t first = begin; first < end; first += step_threads) {
        std::int64_t const i = first + threadIdx.x;
        Index const mine = i < end ? in[i] : 0;
        Index const upto = scan_of_block(mine);
        if (i < end) out[i] = carry + upto - mine;
        carry += shared_.carry;
        __syncthreads();
      }
    }
    meet();
  }
  /// One warp reads, all threads of the block take it from there: if each of them read it, a record
  /// of 32 bytes would take 34,000 requests at one line of the cache, some 30 us.
  template <class T>
  __device__ T value(T const* p) const {
    constexpr unsigned int words = sizeof(T) / 4;
    static_assert(sizeof(T) % 4 == 0 && words <= 32);
    if (threadIdx.x < words)
      shared_.value[threadIdx.x] = as_left(reinterpret_cast<std::uint32_t const*>(p) + threadIdx.x);
    __syncthreads();
    T copy;
    auto* const to = reinterpret_cast<std::uint32_t*>(&copy);
#pragma unroll
    for (unsigned int k = 0; k < words; ++k) to[k] = shared_.value[k];
    __syncthreads();  // before another value takes its place
    return copy;
  }

 private:
  __device__ static void meet() {
    if constexpr (of_grid)
      cooperative_groups::this_grid().sync();
    else
      __syncthreads();
  }
  /// *p as other multiprocessors have left it: not from this one's cache.
  template <class T>
  __device__ static T as_left(T const* p) {
    return *static_cast<T const volatile*>(p);
  }
  /// The inclusive sum of the block's threads up to this one; the sum of all in shared_.carry.
  __device__ Index scan_of_block(Index mine) const {
    int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    auto const upto = [&](Index v) {
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        Index const other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
      }
      return v;
    };
    Index const here = upto(mine);
    if (lane == 31) shared_.warp_sums[warp] = here;
    __syncthreads();
    if (warp == 0) {
      Index const sums = upto(shared_.warp_sums[lane]);
      shared_.warp_sums[lane] = sums;
      if (lane == 31) shared_.carry = sums;
    }
    __syncthreads();
    return here + (warp > 0 ? shared_.warp_sums[warp - 1] : 0);
  }
  __device__ Index sum_of_block(Index mine) const {
    scan_of_block(mine);
    Index const all = shared_.carry;
    __syncthreads();
    return all;
  }

  StepMemory memory_;
  StepShared& shared_;
};

template <class Body>
__global__ void __launch_bounds__(step_threads, 1)
    steps_kernel(__grid_constant__ Body const body, StepMemory memory) {
  __shared__ StepShared shared;
  body(KernelSteps<true>(memory, shared));
}
template <class Body>
__global__ void __launch_bounds__(step_threads, 1)
    block_steps_kernel(__grid_constant__ Body const body) {
  __shared__ StepShared shared;
  body(KernelSteps<false>(StepMemory{nullptr}, shared));
}

constexpr int pick_threads = 256;
template <int lanes, class F>
__global__ void __launch_bounds__(pick_threads)
    pick_kernel(StepList from, StepList to, Index* clear, F f) {
  __shared__ Index appended[pick_threads / 32 + 1];
  std::int64_t const n = from.count != nullptr ? *from.count : from.most;
  constexpr int each = pick_threads / lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * each; first < n;
       first += std::int64_t{gridDim.x} * each) {
    Index const v = item_of(from, first + threadIdx.x / lanes, n);
    bool const keep = picks<lanes>(f, v);
    if (to.items != nullptr) append<pick_threads>(keep, v, to, appended);
  }
  if (clear != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *clear = 0;
}

/// As the host sees it that launches a kernel for each.
class LaunchedSteps {
 public:
  explicit LaunchedSteps(SteppingConverter& on) : on_(on) {}
  /// As many blocks as run at once, each of which takes its share.
  template <int lanes, class F>
  void pick(StepList const& from, StepList const& to, F const& f, Index* clear = nullptr) const {
    constexpr int each = pick_threads / lanes, of_multiprocessor = 2048 / pick_threads;
    auto const blocks =
        std::min<std::int64_t>((std::int64_t{from.most} + each - 1) / each,
                               on_.device.properties.multiProcessorCount * of_multiprocessor);
    if (blocks == 0) return;
    pick_kernel<lanes><<<static_cast<unsigned int>(blocks), pick_threads, 0, on_.device.stream>>>(
        from, to, clear, f);
    check(cudaGetLastError());
  }
  template <class F>
  void each(std::int64_t n, F const& f) const {
    on_.each(n, f);
  }
  template <class F>
  void each_warp(std::int64_t n, F const& f) const {
    on_.each_warp(n, f);
  }
  void scan(Index const* in, Index* out, std::int64_t n) const {
    if (n > 0) on_.scan(in, out, n, Plus{});
  }
  template <class T>
  T value(T const* p) const {
    T copy;
    on_.read(p, &copy, 1);
    return copy;
  }

 private:
  SteppingConverter& on_;
};

/// Whether the body ran as one kernel.
template <class Body>
bool cooperate_in_one_kernel(SteppingConverter& on, Body const& body) {
  Device& device = on.device;
  if (!device.properties.cooperativeLaunch || faults::cooperative_launches_refused() ||
      shared(device))
    return false;
  int const blocks = device.properties.multiProcessorCount;
  StepMemory memory{on.template take<Index>(blocks)};
  Body copy = body;
  void* arguments[] = {&copy, &memory};
  cudaError_t const code = cudaLaunchCooperativeKernel(
      reinterpret_cast<void const*>(&steps_kernel<Body>), dim3(static_cast<unsigned int>(blocks)),
      dim3(step_threads), arguments, 0, device.stream);
  if (code == cudaErrorCooperativeLaunchTooLarge || code == cudaErrorLaunchOutOfResources) {
    cudaGetLastError();
    return false;
  }
  check(code);
  return true;
}

/// A kernel a step.
template <class Body>
void step_by_step(SteppingConverter& on, Body const& body) {
  body(LaunchedSteps(on));
}
template <class Body>
void cooperate(SteppingConverter& on, Body const& body) {
  if (!cooperate_in_one_kernel(on, body)) step_by_step(on, body);
}

/// Until *word, where host and device see it, is no longer `before`: a kernel has changed it, which
/// may still run. Sooner than synchronize() by the end of that kernel, and by what the driver does
/// then. Throws DeviceError where all that was launched is done, and the word is the same.
inline void wait_for_word(Device& device, std::uint64_t* word, std::uint64_t before) {
  constexpr int looks_at_once = 1 << 16;  // some 50 us, beside which asking the driver is little
  std::atomic_ref<std::uint64_t> const at(*word);
  auto const changed = [&] {
    for (int look = 0; look < looks_at_once; ++look)
      if (at.load(std::memory_order_acquire) != before) return true;
    return false;
  };
  if (device.link) return synchronize(device);  // other ranks may never come
  while (!changed())
    if (cudaStreamQuery(device.stream) != cudaErrorNotReady) return synchronize(device);
}

/// One block of threads, for little work: no wait, and any graph may hold it.
template <class Body>
void in_one_block(SteppingConverter& on, Body const& body) {
  block_steps_kernel<<<1, step_threads, 0, on.device.stream>>>(body);
  check(cudaGetLastError());
}

}  // namespace tcsolve::cuda
