// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/rank_link.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/host_link.hpp>
#include <tcsolve/core/cuda/nccl_link.hpp>
#include <tcsolve/core/cuda/peers.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/timed.hpp>

namespace tcsolve::cuda {
namespace {

std::uint64_t this_host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string>()(id + name.data());
}

std::unique_ptr<RankLink> make_link(Device& on, Communicator& ranks, DeviceTransport which) {
  if (which == DeviceTransport::peer) return std::make_unique<Peers>(on, ranks);
  if (which == DeviceTransport::nccl) return std::make_unique<NcclLink>(on, ranks);
  return std::make_unique<HostLink>(on, ranks);
}

/// Sends known numbers around, as sums and halos go, and looks at what comes.
void try_out(Device& on, RankLink& link) {
  int const me = link.ranks.rank(), count = link.ranks.ranks();
  constexpr std::size_t n = 100;  // numbers of a message
  auto const expected = [](int rank, std::size_t k) { return 1000.0 * rank + double(k) + 0.5; };
  std::size_t wrong = 0;

  std::array<double, SumsApart::head + 1> const left{1, 0, expected(me, 0)};
  SumsApart const apart = link.apart();
  copy(on, apart.mine, left.data(), sizeof left);
  link.gather(1);
  std::vector<double> all(left.size() * static_cast<std::size_t>(count));
  copy(on, all.data(), apart.all, all.size() * sizeof(double));
  for (int r = 0; r < count; ++r)
    wrong += all[left.size() * static_cast<std::size_t>(r) + SumsApart::head] != expected(r, 0);
  double const nothing = 0;
  copy(on, apart.mine, &nothing, sizeof nothing);

  int const next = (me + 1) % count, before = (me + count - 1) % count;
  std::vector<double> message(n);
  for (std::size_t k = 0; k < n; ++k) message[k] = expected(me, k);
  Array<double> out(on.space(), n), in(on.space(), n);
  copy(on, out.data(), message.data(), n * sizeof(double));
  Communicator::Outgoing const goes{next, out.data(), n * sizeof(double)};
  Communicator::Incoming const comes{before, in.data(), n * sizeof(double)};
  link.begin_exchange({&goes, 1}, {&comes, 1});
  link.end_exchange();
  copy(on, message.data(), in.data(), n * sizeof(double));
  for (std::size_t k = 0; k < n; ++k) wrong += message[k] != expected(before, k);
  if (wrong > 0 || faults::transport_fails(static_cast<int>(link.transport)))
    throw Unsupported(cat("of numbers that were sent to try it out ", wrong, " came wrong"));
}

}  // namespace

SumsApart RankLink::apart() const {
  if (mine_.size() == 0) return {};
  return {const_cast<double*>(mine_.data()), all_.data(), ranks.ranks()};
}

void RankLink::make_room(Device& on) {
  std::size_t const words = SumsApart::head + SumsApart::room;
  mine_ = Array<double>(on.space(), words);
  all_ = Array<double>(on.space(), words * static_cast<std::size_t>(ranks.ranks()));
  check(cudaMemsetAsync(mine_.data(), 0, words * sizeof(double), on.stream));
}

void RankLink::lose_sums(cudaStream_t aside) noexcept {
  if (cudaStreamQuery(aside) == cudaSuccess)
    cudaMemsetAsync(all_.data(), 0xff, all_.bytes(), aside);
  cudaGetLastError();
}

void RankLink::gather(int) {}
void RankLink::begin_exchange(std::span<Communicator::Outgoing const>,
                              std::span<Communicator::Incoming const>) {}
void RankLink::end_exchange() {}

RankCard card_of(Device const& on) {
  RankCard card;
  card.host = this_host();
  card.process = getpid();
  card.ordinal = on.ordinal;
  std::memcpy(card.uuid.data(), on.properties.uuid.bytes, card.uuid.size());
  return card;
}

/// The bits go through, whatever they would be as numbers.
std::vector<RankCard> exchange(Communicator& ranks, RankCard const& mine) {
  static_assert(sizeof(RankCard) % sizeof(double) == 0);
  constexpr std::size_t words = sizeof(RankCard) / sizeof(double);
  auto const count = static_cast<std::size_t>(ranks.ranks());
  std::array<double, words> out;
  std::memcpy(out.data(), &mine, sizeof mine);
  std::vector<double> in(words * count);
  ranks.gather(out.data(), words, in.data());
  std::vector<RankCard> all(count);
  std::memcpy(static_cast<void*>(all.data()), in.data(), sizeof(RankCard) * count);
  return all;
}

void require_own_devices(std::vector<RankCard> const& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    for (std::size_t s = r + 1; s < all.size(); ++s)
      if (all[r].host == all[s].host && all[r].uuid == all[s].uuid)
        throw Unsupported(cat("ranks ", r, " and ", s,
                              " have the same device, on which they would wait for each other; "
                              "take as many ranks as there are devices, 'transport: mpi' or "
                              "'backend: host'"));
}

void gather_sums(Device& on, std::int64_t count) {
  if (count > SumsApart::room)
    throw Unsupported(cat(count,
                          " sums at once over ranks that do not store into each other's "
                          "memory; there can be ",
                          SumsApart::room));
  on.link->gather(static_cast<int>(count));
}

void wait(Device& on, cudaStream_t stream) {
  if (!on.link) return check(cudaStreamSynchronize(stream));
  auto const started = std::chrono::steady_clock::now();
  for (cudaError_t code; (code = cudaStreamQuery(stream)) != cudaSuccess;) {
    if (code != cudaErrorNotReady) check(code);
    double const waited = seconds_since(started);
    on.link->look(waited);
    if (waited > 0.01) usleep(50);
  }
  on.link->require();
}

void join_ranks(Device& on, Communicator& ranks, DeviceTransport wanted,
                std::vector<std::string>& notes) {
  for (auto const which : {DeviceTransport::peer, DeviceTransport::nccl, DeviceTransport::mpi}) {
    if (wanted != DeviceTransport::automatic && wanted != which) continue;
    Current const current(on);
    try {
      on.link = make_link(on, ranks, which);
      on_all(ranks, [&] {
        if (!on.link->mail()) try_out(on, *on.link);
      });
      break;
    } catch (Error const& e) {  // on all ranks: they go on to the next one together
      on.link.reset();
      if (wanted != DeviceTransport::automatic || which == DeviceTransport::mpi) throw;
      notes.push_back(cat("ranks are not joined by ", name(which), ": ", e.what()));
    }
  }
  sum_over_ranks(on, true);
}

void leave_ranks(Device& on) noexcept {
  if (!on.link) return;
  Current const current(on);
  auto const started = std::chrono::steady_clock::now();
  while (cudaStreamQuery(on.stream) == cudaErrorNotReady) {
    on.link->look(seconds_since(started));
    usleep(50);
  }
  cudaGetLastError();  // of a device that has met an error
  on.scratch.mail = nullptr;
  on.scratch.apart = {};
  on.link.reset();
}

void sum_over_ranks(Device& on, bool all) noexcept {
  on.scratch.mail = all ? on.link->mail() : nullptr;
  on.scratch.apart = all ? on.link->apart() : SumsApart{};
}

DeviceTransport transport(Device const& on) {
  return on.link ? on.link->transport : DeviceTransport::automatic;
}
void begin_exchange(Device& on, std::span<Communicator::Outgoing const> out,
                    std::span<Communicator::Incoming const> in) {
  on.link->begin_exchange(out, in);
}
void end_exchange(Device& on) { on.link->end_exchange(); }
bool sums_in_graphs(Device const& on) {
  return !on.link || on.link->mail() != nullptr || on.link->capturable();
}

}  // namespace tcsolve::cuda
