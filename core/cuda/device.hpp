// SPDX-License-Identifier: Apache-2.0
/// The device as the code in kernels/cuda sees it: streams, reduction scratch, error checks.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <source_location>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/device.hpp>
#include <tcsolve/core/sums_apart.hpp>

namespace tcsolve::cuda {

/// Throws MemoryError for memory, Unsupported for what cannot be done in a stream that is being
/// captured, DeviceError for the rest, with the call's place and code.
void check(cudaError_t code, std::source_location where = std::source_location::current());

/// Where the sums of this rank's kernels become those of all ranks (kernels/cuda/rank_sums.cuh).
struct RankMail {
  static constexpr int most_ranks = 16, capacity = 4096;  ///< sums of one exchange
  int rank, ranks;
  std::byte* posts[most_ranks];  ///< of each rank: (2, capacity, ranks), two sets in turn
  std::uint32_t* turn;           ///< of the last exchange
  std::int32_t* given_up;        ///< on the host; not 0: nobody waits any more
  std::uint64_t patience;        ///< ns

  static constexpr std::size_t bytes(int ranks) {
    return std::size_t{2} * capacity * static_cast<std::size_t>(ranks) * 16;
  }
};
class RankLink;

/// Partial sums of one reduction, the ticket by which the last block is found, and a counter by
/// which blocks share work in order. One operation of a stream runs at a time, so one scratch per
/// stream is enough.
struct Scratch {
  double* partials;                // (max_sums, max_blocks)
  unsigned int* ticket;            // 0 between operations
  unsigned int* next;              // the chunk that the next free block takes; 0 between operations
  RankMail const* mail = nullptr;  // of the other ranks, on the device; null: none is written to
  SumsApart apart{};               // where operations are cut in two for the other ranks
};

/// Made once and used by one Context after the other (open()), so that its streams outlive every
/// Array that is released in their order.
class Device {
 public:
  static constexpr int max_sums = 64;  ///< sums of one reduction
  Device(int ordinal, std::uint32_t home);
  ~Device();
  Device(Device const&) = delete;
  Device& operator=(Device const&) = delete;

  Space space() const { return device_space(ordinal, home); }

  int ordinal;
  std::uint32_t home;  ///< its number, from 1 on
  cudaDeviceProp properties{};
  int single_to_double = 2;  ///< FP32 operations in the time of one in FP64
  int max_blocks = 0;        ///< grid of a full pass: a multiple of the multiprocessors
  cudaStream_t stream = nullptr;
  cudaStream_t side_stream = nullptr;  ///< for words to a running loop
  Scratch scratch{};

  /// Released memory goes in the order of `stream`: `memory_stream` waits for what `stream` holds,
  /// then the memory returns to the pool. Not in `stream` itself, where it might be captured.
  void give_back(void*) noexcept;
  cudaStream_t memory_stream = nullptr;
  cudaEvent_t order = nullptr;     ///< between the caller's stream and `stream`
  Arena* lent = nullptr;           ///< see lend()
  std::unique_ptr<RankLink> link;  ///< where its Context is one of several ranks, see join_ranks()

 private:
  friend class Capture;
  void free_in_order(void*) noexcept;
  void free_withheld() noexcept;
  void close() noexcept;
  std::mutex releasing_;  // held for submissions, never for a wait
  cudaEvent_t released_ = nullptr;
  bool capturing_ = false;
  std::vector<void*> withheld_;  // released while capturing
};

/// Between the halves of an operation that is cut in two (core/sums_apart.hpp): the first has left
/// `count` sums. Throws Unsupported for too many.
void gather_sums(Device&, std::int64_t count);

/// Held while `stream` is being captured: memory released meanwhile goes afterwards, since an event
/// of the stream would become part of the graph.
class Capture {
 public:
  explicit Capture(Device&);
  ~Capture();
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

 private:
  Device& on_;
};

}  // namespace tcsolve::cuda
