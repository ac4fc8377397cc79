// SPDX-License-Identifier: Apache-2.0
/// The device as the code in kernels/cuda sees it: stream, handles, reduction scratch, error
/// checks.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <mutex>
#include <source_location>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/device.hpp>

namespace tcsolve::cuda {

/// Throws MemoryError for memory, DeviceError for the rest, with the call's place and code.
void check(cudaError_t code, std::source_location where = std::source_location::current());
void check(cusparseStatus_t code, std::source_location where = std::source_location::current());
void check(cublasStatus_t code, std::source_location where = std::source_location::current());

/// Held while a graph is captured and while memory or a device is taken or given back: an
/// allocation of one thread would invalidate the capture of another.
std::recursive_mutex& one_at_a_time();

/// Partial sums of one reduction, the ticket that tells the last block, and a counter by which
/// blocks share work in order. One verb of a stream runs at a time, so one scratch per stream is
/// enough.
struct Scratch {
  double* partials;      // (max_sums, max_blocks)
  unsigned int* ticket;  // 0 between verbs
  unsigned int* next;    // the chunk that the next free block takes; 0 between verbs
};

class Device {
 public:
  static constexpr int max_sums = 64;  ///< sums of one reduction
  explicit Device(int ordinal);
  ~Device();
  Device(Device const&) = delete;
  Device& operator=(Device const&) = delete;

  int ordinal;
  cudaDeviceProp properties{};
  int single_to_double = 2;  ///< FP32 operations in the time of one in FP64
  int max_blocks;            ///< grid of a full sweep: a multiple of the multiprocessors
  cudaStream_t stream = nullptr;
  cudaStream_t side_stream = nullptr;  ///< for words to a running loop
  cusparseHandle_t cusparse = nullptr;
  cublasHandle_t cublas = nullptr;
  Scratch scratch{};

 private:
  void close() noexcept;
};

}  // namespace tcsolve::cuda
