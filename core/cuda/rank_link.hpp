// SPDX-License-Identifier: Apache-2.0
/// How the devices of ranks work together (ranks.transport):
///
///     peer   kernels store into the memory of the other ranks' devices     core/cuda/peers.hpp
///     nccl   NCCL sends what lies on a device, in the device's stream      core/cuda/nccl_link.hpp
///     mpi    the host sends it, through its own memory                     core/cuda/host_link.hpp
///
/// Who stores has the sums of all ranks within the kernel that has its own. The others cut the
/// operation in two (core/sums_apart.hpp), and pack what goes to neighbours.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/communicator.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/sums_apart.hpp>

namespace tcsolve::cuda {

/// What a Device has while its Context is one of several ranks. Made by all ranks together: where
/// one throws all do.
class RankLink {
 public:
  RankLink(Communicator& all, DeviceTransport which) : ranks(all), transport(which) {}
  virtual ~RankLink() = default;
  RankLink(RankLink const&) = delete;
  RankLink& operator=(RankLink const&) = delete;

  Communicator& ranks;
  DeviceTransport const transport;

  /// Where kernels post their sums; null where operations are cut in two.
  virtual RankMail const* mail() const { return nullptr; }
  /// Whether a graph may hold gather() and exchanges.
  virtual bool capturable() const { return false; }
  /// Where the halves of an operation leave sums and find them.
  SumsApart apart() const;
  /// All-gather of what the last operation has left in apart(), `count` sums.
  virtual void gather(int count);
  /// Messages as those of Communicator, of memory of the device, in the order of its stream.
  virtual void begin_exchange(std::span<Communicator::Outgoing const>,
                              std::span<Communicator::Incoming const>);
  virtual void end_exchange();

  /// To be asked while the host waits for the device; `waited`: seconds, where it waits for one
  /// thing.
  virtual void look(double /*waited*/) noexcept {}
  /// Throws where the device has waited for another rank in vain.
  virtual void require() {}

 protected:
  /// Memory for apart().
  void make_room(Device&);
  /// All sums in apart() that others have sent become NaN, in the order of `aside`, which waits for
  /// no other stream.
  void lose_sums(cudaStream_t aside) noexcept;

 private:
  Array<double> mine_, all_;
};

/// f() on every rank: where it throws on one, it throws on all.
template <class F>
void on_all(Communicator& ranks, F const& f) {
  std::exception_ptr thrown;
  try {
    f();
  } catch (...) { thrown = std::current_exception(); }
  bool const some = ranks.agree(thrown != nullptr);
  if (thrown) std::rethrow_exception(thrown);
  if (some) throw Unsupported("another rank's device cannot");
}

/// What a rank tells the others of its device, and of memory there.
struct RankCard {
  std::uint64_t host = 0;  ///< the same in all processes of a machine that has not been restarted
  std::int64_t process = 0;
  std::uint64_t address = 0;
  std::int64_t ordinal = 0;
  std::array<char, 16> uuid{};  ///< of the device
  cudaIpcMemHandle_t handle{};
};
/// Without memory.
RankCard card_of(Device const&);
/// In rank order.
std::vector<RankCard> exchange(Communicator&, RankCard const& mine);
/// Throws Unsupported, which begins with the ranks, where two of them have one device.
void require_own_devices(std::vector<RankCard> const&);

/// Waits for `stream`, also for what waits there for other ranks.
void wait(Device&, cudaStream_t stream);

}  // namespace tcsolve::cuda
