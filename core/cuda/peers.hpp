// SPDX-License-Identifier: Apache-2.0
/// Devices of ranks of one host that write into each other's memory: two threads of a process with
/// a device each, or two processes.
///
///     rank 0  device 0   own memory <---- stores ----  rank 1  device 1
///                         ---- stores ---->  own memory
///
/// A kernel that waits for another rank's looks at its own memory, for a bounded time. The host
/// that waits for such a kernel looks meanwhile whether a rank has failed, and ends the wait.
///
/// Stores over NVLink or PCIe, direct ones; multicast is not used.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tcsolve/core/cuda/rank_link.hpp>

namespace tcsolve::cuda {

/// Zeros on the device of each rank, of a size of its own, which all of them reach. Made by all
/// ranks together, where one throws all do: Unsupported where a device does not reach another one.
/// What is released stays until the ranks have met again, since another one may still write there.
class SharedMemory {
 public:
  SharedMemory(Device&, Communicator&, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory const&) = delete;
  SharedMemory& operator=(SharedMemory const&) = delete;

  /// The memory of a rank, as this device sees it.
  std::byte* of(int rank) const { return seen_[static_cast<std::size_t>(rank)]; }

 private:
  void close() noexcept;
  Device& on_;
  std::size_t rank_;
  std::vector<std::byte*> seen_;
  std::vector<bool> opened_;  // memory of another process
};

/// SharedMemory in pieces that are given back and taken again: to make it takes each rank
/// cudaMalloc, a mapping on every other one, and, once it is released, cudaFree, which waits for
/// the device.
///
///     block 0   | piece | free   | piece |     of this rank; each rank knows where those of the
///     block 1   | released | free         |    others lie
///
/// A piece that was released may still be written to by a rank that has not noticed. It is free
/// once the ranks have met again, each after all that its own device does: then it is cleared.
class SharedPool : public std::enable_shared_from_this<SharedPool> {
 public:
  explicit SharedPool(Device& on) : on_(on) {}

  /// Zeros, as those of SharedMemory.
  class Piece {
   public:
    Piece(std::shared_ptr<SharedPool> pool, std::size_t block, std::size_t at, std::size_t bytes,
          std::vector<std::byte*> seen)
        : pool_(std::move(pool)), block_(block), at_(at), bytes_(bytes), seen_(std::move(seen)) {}
    ~Piece() { pool_->release(block_, at_, bytes_); }
    Piece(Piece const&) = delete;
    Piece& operator=(Piece const&) = delete;
    std::byte* of(int rank) const { return seen_[static_cast<std::size_t>(rank)]; }

   private:
    std::shared_ptr<SharedPool> pool_;
    std::size_t block_, at_, bytes_;
    std::vector<std::byte*> seen_;
  };
  /// A piece on each rank, of `bytes` on this one. By all ranks together; where one throws all do.
  /// Cost: a sum of the ranks; where one of them has no room left a block of SharedMemory for each.
  std::unique_ptr<Piece> take(Communicator&, std::size_t bytes);

 private:
  struct Stretch {
    std::size_t block, at, bytes;
  };
  void release(std::size_t block, std::size_t at, std::size_t bytes) noexcept;
  bool cut(std::size_t bytes, Stretch& out);
  void put(Stretch const&);

  Device& on_;
  std::vector<std::unique_ptr<SharedMemory>> blocks_;
  std::vector<Stretch> free_;  // by block and place; neighbours are one
  std::mutex releasing_;
  std::vector<Stretch> released_;
};

class Peers final : public RankLink {
 public:
  /// Throws as SharedMemory does, and where a store has not come.
  Peers(Device&, Communicator&);
  ~Peers() override;
  RankMail const* mail() const override { return mail_; }
  void look(double) noexcept override;
  void require() override;
  /// Host memory: not 0 once nobody is to wait any more.
  std::int32_t* given_up() const { return given_up_; }
  /// Memory that the devices of all ranks reach, for halos.
  SharedPool& pool() { return *pool_; }

 private:
  void try_out(Device&);

  SharedMemory posts_;
  std::shared_ptr<SharedPool> pool_;
  RankMail* mail_ = nullptr;  // on the device
  std::int32_t* given_up_ = nullptr;
};

}  // namespace tcsolve::cuda
