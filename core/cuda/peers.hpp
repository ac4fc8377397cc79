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

 private:
  void try_out(Device&);

  SharedMemory posts_;
  RankMail* mail_ = nullptr;  // on the device
  std::int32_t* given_up_ = nullptr;
};

}  // namespace tcsolve::cuda
