// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/device_speeds.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace tcsolve::cuda {

namespace {

std::string place(std::source_location const& where) {
  std::string file = where.file_name();
  return cat(file.substr(file.find_last_of('/') + 1), ":", where.line(), " in ",
             where.function_name());
}

std::string version_text(int v) { return cat(v / 1000, ".", v % 1000 / 10); }

}  // namespace

void check(cudaError_t code, std::source_location where) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported a second time by the next one
  std::string text = cat("CUDA: ", cudaGetErrorName(code), " (", static_cast<int>(code), "), ",
                         cudaGetErrorString(code), "; ", place(where));
  if (code == cudaErrorMemoryAllocation) throw MemoryError(text);
  throw DeviceError(text);
}

void check(cusparseStatus_t code, std::source_location where) {
  if (code == CUSPARSE_STATUS_SUCCESS) return;
  std::string text = cat("cuSPARSE: ", cusparseGetErrorString(code), " (", static_cast<int>(code),
                         "); ", place(where));
  if (code == CUSPARSE_STATUS_ALLOC_FAILED || code == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    throw MemoryError(text);
  throw DeviceError(text);
}

void check(cublasStatus_t code, std::source_location where) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  std::string text = cat("cuBLAS: ", cublasGetStatusString(code), " (", static_cast<int>(code),
                         "); ", place(where));
  if (code == CUBLAS_STATUS_ALLOC_FAILED) throw MemoryError(text);
  throw DeviceError(text);
}

std::recursive_mutex& one_at_a_time() {
  static std::recursive_mutex mutex;
  return mutex;
}

namespace {

using Turn = std::lock_guard<std::recursive_mutex>;

/// Makes a device the current one of this thread for a while.
class Current {
 public:
  explicit Current(int ordinal) {
    if (cudaGetDevice(&before_) != cudaSuccess || before_ == ordinal) before_ = -1;
    if (before_ >= 0) cudaSetDevice(ordinal);
  }
  ~Current() {
    if (before_ >= 0) cudaSetDevice(before_);
  }
  Current(Current const&) = delete;

 private:
  int before_ = -1;
};

/// A device's memory that is given back and taken again: cudaMalloc takes 30 us and more, whatever
/// the size, which is longer than most steps of a conversion. It keeps up to a 64th of the memory.
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
    auto keep = static_cast<std::uint64_t>(total / 64);
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  }
  /// Memory that every stream may use.
  cudaError_t take(void** p, std::size_t bytes) {
    if (pool_ == nullptr) return cudaMalloc(p, bytes);
    if (auto code = cudaMallocFromPoolAsync(p, bytes, pool_, stream_); code != cudaSuccess)
      return code;
    return cudaStreamSynchronize(stream_);
  }
  /// What is kept and not in use goes back to the device.
  cudaError_t trim() { return pool_ == nullptr ? cudaSuccess : cudaMemPoolTrimTo(pool_, 0); }
  std::size_t kept() const {
    std::uint64_t reserved = 0, used = 0;
    if (pool_ == nullptr) return 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
    return reserved - used;
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Made when first asked for, and never taken apart: whoever holds memory may outlive everything
/// but the process.
Pool& pool_of(int ordinal) {
  static std::map<int, Pool>& pools = *new std::map<int, Pool>;
  auto found = pools.find(ordinal);
  if (found == pools.end()) found = pools.emplace(ordinal, ordinal).first;
  return found->second;
}

}  // namespace

namespace {

/// 0 where the driver does not know it.
int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  cudaGetLastError();
  return 0;
}

}  // namespace

Device::Device(int which) : ordinal(which) {
  Turn turn(one_at_a_time());
  try {
    check(cudaSetDevice(ordinal));
    check(cudaGetDeviceProperties(&properties, ordinal));
    if (properties.major < 8)
      throw DeviceError(cat(properties.name, " has compute capability ", properties.major, ".",
                            properties.minor, "; tcsolve needs 8.0 or newer: use backend: host"));
    max_blocks = 8 * properties.multiProcessorCount;
    single_to_double = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, ordinal);
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&side_stream, cudaStreamNonBlocking));
    check(cusparseCreate(&cusparse));
    check(cusparseSetStream(cusparse, stream));
    check(cublasCreate(&cublas));
    check(cublasSetStream(cublas, stream));
    check(cudaMalloc(&scratch.partials, sizeof(double) * max_sums * max_blocks));
    check(cudaMalloc(&scratch.ticket, 2 * sizeof(unsigned int)));
    check(cudaMemsetAsync(scratch.ticket, 0, 2 * sizeof(unsigned int), stream));
    scratch.next = scratch.ticket + 1;
  } catch (...) {
    close();
    throw;
  }
}

Device::~Device() { close(); }

void Device::close() noexcept {
  Turn turn(one_at_a_time());
  if (cublas) cublasDestroy(cublas);
  if (cusparse) cusparseDestroy(cusparse);
  if (side_stream) cudaStreamDestroy(side_stream);
  if (stream) cudaStreamDestroy(stream);
  cudaFree(scratch.partials);
  cudaFree(scratch.ticket);
}

bool available(std::string& why) {
  int count = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    cudaGetLastError();
    why = cat("no usable NVIDIA GPU: ", cudaGetErrorString(code));
    return false;
  }
  if (count == 0) {
    why = "no NVIDIA GPU found";
    return false;
  }
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess ||
      major < 8) {
    why = "the NVIDIA GPU is older than compute capability 8.0";
    return false;
  }
  return true;
}

std::shared_ptr<Device> open(int ordinal) {
  std::string why;
  if (!available(why))
    throw DeviceError(cat("backend: cuda cannot be used: ", why, "; use backend: host"));
  int count = 0;
  check(cudaGetDeviceCount(&count));
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError(
        cat("device ", ordinal, " does not exist; this machine has 0 to ", count - 1));
  return std::make_shared<Device>(ordinal);
}

Facts facts(Device& on) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  return {on.properties.name,
          version_text(driver),
          version_text(runtime),
          10 * on.properties.major + on.properties.minor,
          on.properties.multiProcessorCount,
          on.properties.totalGlobalMem,
          static_cast<std::size_t>(on.properties.l2CacheSize)};
}

Speeds speeds(Device& on) {
  // Two transfers a clock of so many bits; clocks in kHz.
  double const transfers = 2e3 * attribute(cudaDevAttrMemoryClockRate, on.ordinal);
  return {transfers * attribute(cudaDevAttrGlobalMemoryBusWidth, on.ordinal) / 8,
          1e3 * attribute(cudaDevAttrClockRate, on.ordinal), on.single_to_double};
}

std::size_t free_memory(Device& on) {
  Turn turn(one_at_a_time());
  Current const current(on.ordinal);
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total));
  return available + pool_of(on.ordinal).kept();
}

void synchronize(Device& on) { check(cudaStreamSynchronize(on.stream)); }

void* allocate(std::size_t bytes) {
  Turn turn(one_at_a_time());
  int ordinal = 0;
  check(cudaGetDevice(&ordinal));
  Pool& pool = pool_of(ordinal);
  void* p = nullptr;
  cudaError_t code = pool.take(&p, bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    check(pool.trim());
    code = pool.take(&p, bytes);
  }
  if (code != cudaSuccess) {
    cudaGetLastError();
    if (code != cudaErrorMemoryAllocation) check(code);
    std::size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    throw MemoryError(
        cat("device memory: ", bytes, " bytes asked for, ", available, " of ", total, " are free"));
  }
  return p;
}

void release(void* p) noexcept {
  if (p == nullptr) return;
  Turn turn(one_at_a_time());
  cudaPointerAttributes of{};
  if (cudaPointerGetAttributes(&of, p) != cudaSuccess) return;  // the process ends
  Current const current(of.device);
  // What cudaFree does for memory of no pool. Work that cannot be waited for may still use it.
  if (cudaDeviceSynchronize() == cudaSuccess) cudaFree(p);
}

void* allocate_pinned(std::size_t bytes) {
  Turn turn(one_at_a_time());
  void* p = nullptr;
  check(cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
  return p;
}

void release_pinned(void* p) noexcept {
  Turn turn(one_at_a_time());
  cudaFreeHost(p);
}

void copy(Device& on, void* to, void const* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.stream));
  check(cudaStreamSynchronize(on.stream));
}

void copy_aside(Device& on, void* to, void const* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.side_stream));
  check(cudaStreamSynchronize(on.side_stream));
}

}  // namespace tcsolve::cuda
