// SPDX-License-Identifier: Apache-2.0
/// What the core needs of a CUDA device, free of CUDA headers. Defined in core/cuda/device.cpp, or
/// in core/cuda_absent.cpp, where everything but `available` throws NotBuilt.
///
/// The current device. CUDA launches and allocates on the device that is current in the calling
/// thread. A Context computes on its own: `Context::visit` and the functions below make it current
/// (Current) and leave the caller's as it was. Memory carries its device in its Space.
///
/// The order of memory. A Context has a stream, and its Arrays belong to it (their Space has its
/// number). An Array's memory goes when all work has finished that this stream held when the Array
/// was released. Neither the host nor another Context waits for that. Code that uses an Array of
/// one Context in the stream of another, or in a stream of its own, must make the first Context
/// wait for that stream (wait_for()) before it releases the Array, or synchronise. Arrays may
/// outlive their Context.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tcsolve/core/communicator.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {
class Arena;
}  // namespace tcsolve

namespace tcsolve {

/// What joins the devices of ranks (core/cuda/rank_link.hpp); automatic: the first that works.
enum class DeviceTransport { automatic, peer, nccl, mpi };
constexpr char const* name(DeviceTransport t) {
  constexpr char const* words[] = {"auto", "peer", "nccl", "mpi"};
  return words[static_cast<int>(t)];
}

}  // namespace tcsolve

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

/// True when device `ordinal` can be used; otherwise `why` says what is missing.
bool available(std::string& why, int ordinal = 0);
/// A Device that no Context has: one that a Context has given back, or a new one. Making one takes
/// milliseconds and taking one apart waits for all work on the device, also that of others;
/// therefore none is taken apart. When the last owner goes, its work is waited for.
std::shared_ptr<Device> open(int ordinal);
Facts facts(Device&);
bool shared(Device const&);        ///< another Context of this process computes on it, too
Space space(Device const&);        ///< of memory that belongs to it
std::size_t free_memory(Device&);  ///< with what is kept to be given out again
/// Most bytes that this process has held on the device at once; 0 where the driver has no pools.
std::size_t peak_memory(Device&);

/// MHz at the time of the call, by NVML; 0 where that library is missing or does not say.
struct Clocks {
  int multiprocessors = 0, memory = 0;
};
Clocks clocks(Device&);
void synchronize(Device&);
/// The workspace that an allocation may have back before it fails; null for none.
void lend(Device&, Arena*);

/// The Device's Context is one of several ranks, each of which calls it with the same transport.
/// Throws, on all of them, where that does not work; `notes`: what did not, of automatic.
void join_ranks(Device&, Communicator&, DeviceTransport, std::vector<std::string>& notes);
void leave_ranks(Device&) noexcept;
/// That of the ranks; automatic where there are none.
DeviceTransport transport(Device const&);
/// Whether a graph may hold operations with sums, and exchanges.
bool sums_in_graphs(Device const&);
/// Messages between ranks' devices, as those of Communicator, of memory of the device and in the
/// order of its stream. Where the transport is not `peer`.
void begin_exchange(Device&, std::span<Communicator::Outgoing const>,
                    std::span<Communicator::Incoming const>);
void end_exchange(Device&);
/// Whether sums of what is launched next are those of all ranks. Only after join_ranks().
void sum_over_ranks(Device&, bool) noexcept;

/// Makes a Device the current one of this thread for the length of a scope.
class Current {
 public:
  explicit Current(Device const&);
  explicit Current(int ordinal);  ///< negative: the current one stays
  ~Current();
  Current(Current const&) = delete;
  Current& operator=(Current const&) = delete;

 private:
  int before_ = -1;  // ordinal to go back to; -1: nothing was changed
};

/// The Device's stream, a cudaStream_t.
void* stream(Device&);
/// Work submitted to the Device from here on begins after the work that `stream` holds now.
/// `stream` is a cudaStream_t of the same device; null is the legacy default stream, which stands
/// for every stream that was not made non-blocking. The host does not wait. Throws Unsupported
/// where work in `stream` is being captured. Cost: about 2 us.
void wait_for(Device&, void* stream);
/// The way back: `stream` goes on after the work that the Device holds now.
void let_wait(Device&, void* stream) noexcept;

/// Memory in a device space, from a pool that keeps up to a 64th of the device's memory. Throws
/// MemoryError. Cost: about 1 us, or as much as cudaMalloc (30 us and more) where the pool has to
/// grow; the first time 7 ms. Memory that was released before it was ready is waited for.
void* allocate(Space, std::size_t bytes);
/// In the order of the Device that the space names, without a wait; where it names none, after all
/// work on the device, which is waited for.
void release(Space, void*) noexcept;
/// Host memory that the device can read and write, at most 256 bytes. release_pinned() keeps it
/// for the next call, since cudaFreeHost would wait for the device.
void* allocate_pinned(std::size_t bytes);
void release_pinned(void*) noexcept;
/// Any direction, ordered after the work of the device's stream; back when done.
void copy(Device&, void* to, void const* from, std::size_t bytes);
/// Host to device on a second stream while the first is busy: how a running loop is asked to stop.
void copy_aside(Device&, void* to, void const* from, std::size_t bytes);

}  // namespace tcsolve::cuda
