// SPDX-License-Identifier: Apache-2.0
/// What the core needs of a CUDA device, free of CUDA headers. Defined in core/cuda/device.cpp, or
/// in core/cuda_absent.cpp, where everything but `available` throws NotBuilt.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tcsolve/core/types.hpp>

namespace tcsolve::cuda {

/// One device as one Context sees it: a stream of its own, library handles, reduction scratch.
/// Complete only for code that includes core/cuda/device.hpp.
class Device;

struct Facts {
  std::string name;            ///< e.g. "NVIDIA H200"
  std::string driver;          ///< CUDA version of the driver, e.g. "13.0"
  std::string runtime;         ///< CUDA version of the toolkit, e.g. "13.0"
  int compute_capability = 0;  ///< 10 major + minor
  int multiprocessors = 0;
  std::size_t memory = 0, l2 = 0;  ///< bytes
};

/// True when a usable device is there; otherwise `why` says what is missing.
bool available(std::string& why);
std::shared_ptr<Device> open(int ordinal);
Facts facts(Device&);
std::size_t free_memory(Device&);  ///< with what is kept to be given out again
void synchronize(Device&);

/// Memory of the current device that every stream may use, from a pool that keeps up to a 64th of
/// it. Throws MemoryError. Cost: about 1 us, or as much as cudaMalloc (30 us and more) where the
/// pool has to grow; the first time 7 ms.
void* allocate(std::size_t bytes);
/// Waits for all work on the device that it belongs to.
void release(void*) noexcept;
void* allocate_pinned(std::size_t bytes);  ///< host memory that the device can read and write
void release_pinned(void*) noexcept;
/// Any direction, ordered after the work of the device's stream; back when done.
void copy(Device&, void* to, void const* from, std::size_t bytes);
/// Host to device on a second stream while the first is busy: how a running loop is asked to stop.
void copy_aside(Device&, void* to, void const* from, std::size_t bytes);

}  // namespace tcsolve::cuda
