// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/pool.hpp>

#include <map>
#include <mutex>

#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/cuda/captures.hpp>

namespace tcsolve::cuda {

Pool& pool_of(int ordinal) {
  static std::mutex& mutex = *new std::mutex;
  static std::map<int, Pool>& pools = *new std::map<int, Pool>;
  std::lock_guard<std::mutex> const turn(mutex);
  auto found = pools.find(ordinal);
  if (found == pools.end()) found = pools.emplace(ordinal, ordinal).first;
  return found->second;
}

void* allocate(Space space, std::size_t bytes) {
  Device* const on = device_at(home_of(space));
  Current const current(on != nullptr ? on->ordinal : ordinal_of(space));
  BesideCaptures const beside;
  int ordinal = 0;
  check(cudaGetDevice(&ordinal));
  Pool& pool = pool_of(ordinal);
  cudaStream_t const stream = on != nullptr ? on->memory_stream : pool.stream();
  void* p = nullptr;
  cudaError_t code = pool.take(&p, bytes, stream);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    if (on != nullptr && on->lent != nullptr) on->lent->trim();
    check(cudaStreamSynchronize(stream));  // what has been released is there by then
    check(pool.trim());
    code = pool.take(&p, bytes, stream);
  }
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    throw MemoryError(
        cat("device memory: ", bytes, " bytes asked for, ", available, " of ", total, " are free"));
  }
  if (code != cudaSuccess) check(code);
  return p;
}

void release(Space space, void* p) noexcept {
  if (p == nullptr) return;
  BesideCaptures const beside;
  if (Device* const on = device_at(home_of(space))) {
    Current const current(*on);
    return on->give_back(p);
  }
  cudaPointerAttributes of{};
  if (cudaPointerGetAttributes(&of, p) == cudaSuccess) {
    Current const current(of.device);
    // What cudaFree does for memory of no pool. Work that cannot be waited for may still use it.
    if (cudaDeviceSynchronize() == cudaSuccess && cudaFree(p) == cudaSuccess) return;
  }
  cudaGetLastError();  // the device has met an error, or the process ends
}

}  // namespace tcsolve::cuda
