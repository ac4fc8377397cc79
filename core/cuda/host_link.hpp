// SPDX-License-Identifier: Apache-2.0
/// Devices of ranks whose hosts send what goes from one to another, by whatever messages these
/// have: under a launcher MPI's, on one host shared memory. So devices of several hosts, devices
/// that do not reach each other, and ranks on one device work together.
///
///     device 0 --> memory of its host --> messages --> memory of the other host --> device 1
///
/// The host waits for its device at each sum, and at each halo: loops are eager, and no rank is
/// ahead of another one.
#pragma once

#include <tcsolve/core/cuda/rank_link.hpp>

namespace tcsolve::cuda {

class HostLink final : public RankLink {
 public:
  HostLink(Device&, Communicator&);
  ~HostLink() override;
  void gather(int count) override;
  void begin_exchange(std::span<Communicator::Outgoing const>,
                      std::span<Communicator::Incoming const>) override;
  void end_exchange() override;

 private:
  /// Host memory that copies reach at full speed; it grows.
  struct Pinned {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::byte* take(std::size_t);
    void free() noexcept;
  };
  Device& on_;
  Pinned sums_, out_, in_;
  std::vector<Communicator::Incoming> landing_;  // of the open exchange: where it goes from in_
};

}  // namespace tcsolve::cuda
