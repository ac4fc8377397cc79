// SPDX-License-Identifier: Apache-2.0
/// The memory of a device.
#pragma once

#include <cstdint>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

/// A device's memory that is given back and taken again: cudaMalloc takes 30 us and more, whatever
/// the size, which is longer than most steps of a conversion. Beside what is in use it keeps up to
/// a 64th of the memory.
class Pool {
 public:
  explicit Pool(int ordinal) {
    Current const current(ordinal);
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, ordinal};
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    if (cudaMemPoolCreate(&pool_, &props) != cudaSuccess) {  // a driver without pools
      cudaGetLastError();
      pool_ = nullptr;
      return;
    }
    spare_ = total / 64;
    keep_spare();
    // Memory that another stream has released and may still use is not waited for.
    int wait = 0;
    cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &wait);
  }
  cudaStream_t stream() const { return stream_; }
  /// Memory that every stream may use. Waits for `stream`.
  cudaError_t take(void** p, std::size_t bytes, cudaStream_t stream) {
    if (pool_ == nullptr) return cudaMalloc(p, bytes);
    if (auto code = cudaMallocFromPoolAsync(p, bytes, pool_, stream); code != cudaSuccess)
      return code;
    keep_spare();
    return cudaStreamSynchronize(stream);
  }
  cudaError_t put(void* p, cudaStream_t stream) {
    if (pool_ == nullptr) return cudaFree(p);
    cudaError_t const code = cudaFreeAsync(p, stream);
    keep_spare();
    return code;
  }
  /// What is kept and not in use goes back to the device.
  cudaError_t trim() { return pool_ == nullptr ? cudaSuccess : cudaMemPoolTrimTo(pool_, 0); }
  std::size_t kept() const {
    std::uint64_t reserved = 0, used = 0;
    if (pool_ == nullptr) return 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
    return reserved > used ? reserved - used : 0;  // the two are not read at once
  }
  /// Most that was in use at once.
  std::size_t peak() const {
    std::uint64_t high = 0;
    if (pool_ != nullptr) check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &high));
    return high;
  }

 private:
  /// The driver's threshold is of all that the pool holds, so that memory in use counts: were it
  /// the spare memory alone, a system beyond it would have each list of a conversion mapped anew.
  void keep_spare() {
    std::uint64_t used = 0;
    if (cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess)
      cudaGetLastError();
    std::uint64_t held = used + spare_;
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &held);
  }
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;  // of memory that belongs to no Device
  std::size_t spare_ = 0;          // bytes
};

/// Created at the first call and never destroyed, since an Array that holds memory of the pool may
/// live as long as the process.
Pool& pool_of(int ordinal);

/// Null where the number is none's.
Device* device_at(std::uint32_t home);

}  // namespace tcsolve::cuda
