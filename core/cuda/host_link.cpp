// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/host_link.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tcsolve::cuda {

HostLink::HostLink(Device& on, Communicator& all) : RankLink(all, DeviceTransport::mpi), on_(on) {
  on_all(all, [&] { make_room(on); });
}

HostLink::~HostLink() {
  Current const current(on_);
  cudaStreamSynchronize(on_.stream);
  for (Pinned* const p : {&sums_, &out_, &in_}) p->free();
  cudaGetLastError();  // of a device that has met an error
}

void HostLink::Pinned::free() noexcept {
  if (data != nullptr) cudaFreeHost(std::exchange(data, nullptr));
  bytes = 0;
}

std::byte* HostLink::Pinned::take(std::size_t wanted) {
  if (wanted <= bytes) return data;
  free();
  void* memory = nullptr;
  std::size_t const size = std::max(wanted, std::size_t{1} << 16);
  check(cudaHostAlloc(&memory, size, cudaHostAllocDefault));
  data = static_cast<std::byte*>(memory);
  bytes = size;
  return data;
}

/// What the copies before have brought to the device has been read when the next one comes: the
/// host waits for the stream between them.
void HostLink::gather(int count) {
  SumsApart const at = apart();
  auto const words = static_cast<std::size_t>(SumsApart::head + count);
  auto const others = words * static_cast<std::size_t>(at.ranks);
  if (sums_.bytes < (words + others) * sizeof(double)) check(cudaStreamSynchronize(on_.stream));
  auto* const mine = reinterpret_cast<double*>(sums_.take((words + others) * sizeof(double)));
  double* const all = mine + words;
  check(cudaMemcpyAsync(mine, at.mine, words * sizeof(double), cudaMemcpyDeviceToHost, on_.stream));
  check(cudaStreamSynchronize(on_.stream));
  ranks.gather(mine, static_cast<std::int64_t>(words), all);
  check(cudaMemcpyAsync(const_cast<double*>(at.all), all, others * sizeof(double),
                        cudaMemcpyHostToDevice, on_.stream));
}

void HostLink::begin_exchange(std::span<Communicator::Outgoing const> out,
                              std::span<Communicator::Incoming const> in) {
  std::size_t goes = 0, comes = 0;
  for (auto const& message : out) goes += message.bytes;
  for (auto const& message : in) comes += message.bytes;
  check(cudaStreamSynchronize(on_.stream));  // what came last has been copied
  std::byte* to = out_.take(goes);
  std::vector<Communicator::Outgoing> sent;
  for (auto const& message : out) {
    check(cudaMemcpyAsync(to, message.data, message.bytes, cudaMemcpyDeviceToHost, on_.stream));
    sent.push_back({message.to, std::exchange(to, to + message.bytes), message.bytes});
  }
  std::byte* from = in_.take(comes);
  std::vector<Communicator::Incoming> received;
  for (auto const& message : in)
    received.push_back({message.from, std::exchange(from, from + message.bytes), message.bytes});
  check(cudaStreamSynchronize(on_.stream));
  landing_.assign(in.begin(), in.end());
  ranks.begin_exchange(sent, received);
}

void HostLink::end_exchange() {
  ranks.end_exchange();
  std::byte const* from = in_.data;
  for (auto const& message : std::exchange(landing_, {})) {
    check(cudaMemcpyAsync(message.data, from, message.bytes, cudaMemcpyHostToDevice, on_.stream));
    from += message.bytes;
  }
}

}  // namespace tcsolve::cuda
