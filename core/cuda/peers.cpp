// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/peers.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <utility>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/timed.hpp>

namespace tcsolve::cuda {
namespace {

/// What a rank tells the others of its memory.
struct Card {
  std::uint64_t host = 0;  ///< the same in all processes of a machine that has not been restarted
  std::int64_t process = 0;
  std::uint64_t address = 0;
  std::int64_t ordinal = 0;
  std::array<char, 16> uuid{};  ///< of the device
  cudaIpcMemHandle_t handle{};
};
static_assert(sizeof(Card) % sizeof(double) == 0);

std::uint64_t this_host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string>()(id + name.data());
}

/// What every rank says, in rank order. The bits go through, whatever they would be as numbers.
std::vector<Card> exchange(Communicator& ranks, Card const& mine) {
  constexpr std::size_t words = sizeof(Card) / sizeof(double);
  auto const count = static_cast<std::size_t>(ranks.ranks());
  std::array<double, words> out;
  std::memcpy(out.data(), &mine, sizeof mine);
  std::vector<double> in(words * count);
  ranks.gather(out.data(), words, in.data());
  std::vector<Card> all(count);
  std::memcpy(static_cast<void*>(all.data()), in.data(), sizeof(Card) * count);
  return all;
}

/// f() on every rank: where it throws on one, it throws on all.
template <class F>
void on_all(Communicator& ranks, F const& f) {
  std::exception_ptr thrown;
  try {
    f();
  } catch (...) { thrown = std::current_exception(); }
  bool const some = ranks.agree(thrown != nullptr);
  if (thrown) std::rethrow_exception(thrown);
  if (some) throw Unsupported("another rank's device cannot share its memory");
}

/// Memory of a Device that ranks which have not met since may still write to.
class Released {
 public:
  static Released& all() {
    static Released& memory = *new Released;
    return memory;
  }
  void put(std::uint32_t home, void* p) noexcept {
    std::lock_guard<std::mutex> const turn(mutex_);
    try {
      kept_.emplace_back(home, p);
    } catch (...) {}  // no room to remember it: lost
  }
  /// The ranks of the Device's Context have met, and each has waited for its own work.
  void free(std::uint32_t home) noexcept {
    std::lock_guard<std::mutex> const turn(mutex_);
    std::erase_if(kept_, [&](auto const& one) {
      if (one.first == home && cudaFree(one.second) != cudaSuccess) cudaGetLastError();
      return one.first == home;
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::uint32_t, void*>> kept_;
};

void reach(int ordinal, int other) {
  if (!reaches(ordinal, other))
    throw Unsupported(cat("device ", ordinal, " does not reach the memory of device ", other,
                          ": ranks on these need a link between them; take 'backend: host'"));
  cudaError_t const code = cudaDeviceEnablePeerAccess(other, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check(code);
}

}  // namespace

bool reaches(int ordinal, int other) noexcept {
  if (ordinal == other) return true;
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, ordinal, other) == cudaSuccess) return can != 0;
  cudaGetLastError();
  return false;
}

SharedMemory::SharedMemory(Device& on, Communicator& ranks, std::size_t bytes)
    : on_(on),
      rank_(static_cast<std::size_t>(ranks.rank())),
      seen_(static_cast<std::size_t>(ranks.ranks()), nullptr),
      opened_(seen_.size(), false) {
  Current const current(on);
  BesideCaptures const beside;
  std::size_t const me = rank_;
  Card mine;
  try {
    on_all(ranks, [&] {
      // Of pages of its own: a handle is one of whole pages.
      constexpr std::size_t page = std::size_t{2} << 20;
      void* memory = nullptr;
      bytes = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
      check(cudaMalloc(&memory, bytes));
      seen_[me] = static_cast<std::byte*>(memory);
      check(cudaMemsetAsync(memory, 0, bytes, on.memory_stream));
      check(cudaStreamSynchronize(on.memory_stream));
      if (!captured(on.stream)) wait(on, on.stream);  // what this rank wrote elsewhere is there
      mine.host = this_host();
      mine.process = getpid();
      mine.address = reinterpret_cast<std::uintptr_t>(memory);
      mine.ordinal = on.ordinal;
      std::memcpy(mine.uuid.data(), on.properties.uuid.bytes, mine.uuid.size());
      check(cudaIpcGetMemHandle(&mine.handle, memory));
    });
    std::vector<Card> const all = exchange(ranks, mine);
    if (!captured(on.stream)) Released::all().free(on.home);
    for (std::size_t r = 0; r < all.size(); ++r)
      for (std::size_t s = r + 1; s < all.size(); ++s)
        if (all[r].host == all[s].host && all[r].uuid == all[s].uuid)
          throw Unsupported(cat("ranks ", r, " and ", s,
                                " have the same device, on which they would wait for each other; "
                                "take as many ranks as there are devices, or 'backend: host'"));
    on_all(ranks, [&] {
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (r == me) continue;
        Card const& other = all[r];
        if (other.host != mine.host)
          throw Unsupported(cat("rank ", r,
                                " is on another host: devices of several hosts are not "
                                "reached; take 'backend: host'"));
        if (other.process == mine.process) {
          if (other.ordinal != mine.ordinal) reach(on.ordinal, static_cast<int>(other.ordinal));
          seen_[r] = reinterpret_cast<std::byte*>(other.address);
          continue;
        }
        void* there = nullptr;
        check(cudaIpcOpenMemHandle(&there, other.handle, cudaIpcMemLazyEnablePeerAccess));
        seen_[r] = static_cast<std::byte*>(there);
        opened_[r] = true;
      }
    });
  } catch (...) {
    close();
    throw;
  }
}

SharedMemory::~SharedMemory() { close(); }

void SharedMemory::close() noexcept {
  Current const current(on_);
  BesideCaptures const beside;
  cudaStreamSynchronize(on_.stream);  // what writes to others is done
  for (std::size_t r = 0; r < seen_.size(); ++r)
    if (opened_[r]) cudaIpcCloseMemHandle(seen_[r]);
  if (seen_[rank_] != nullptr) Released::all().put(on_.home, seen_[rank_]);
  cudaGetLastError();  // a device that has met an error, or the process ends
}

Peers::Peers(Device& on, Communicator& all)
    : ranks(all), posts_(on, all, RankMail::bytes(all.ranks())) {
  if (all.ranks() > RankMail::most_ranks)
    throw Unsupported(cat(all.ranks(), " ranks of devices; there can be ", RankMail::most_ranks));
  Current const current(on);
  given_up_ = static_cast<std::int32_t*>(allocate_pinned(sizeof *given_up_));
  *given_up_ = 0;
  RankMail mail{};
  mail.rank = all.rank(), mail.ranks = all.ranks();
  for (int r = 0; r < mail.ranks; ++r) mail.posts[r] = posts_.of(r);
  mail.given_up = given_up_;
  mail.patience = static_cast<std::uint64_t>(1e9 * all.patience());
  // The turn of the last exchange lies behind.
  void* there = nullptr;
  check(cudaMalloc(&there, sizeof mail + sizeof(std::uint32_t)));
  mail_ = static_cast<RankMail*>(there);
  mail.turn = reinterpret_cast<std::uint32_t*>(mail_ + 1);
  check(cudaMemset(there, 0, sizeof mail + sizeof(std::uint32_t)));
  check(cudaMemcpy(there, &mail, sizeof mail, cudaMemcpyHostToDevice));
}

Peers::~Peers() {
  if (mail_ != nullptr && cudaFree(mail_) != cudaSuccess) cudaGetLastError();
  release_pinned(given_up_);
}

void Peers::look() noexcept {
  if (ranks.broken()) *static_cast<std::int32_t volatile*>(given_up_) = 1;
}

void Peers::require() {
  if (*static_cast<std::int32_t volatile*>(given_up_) != 0) ranks.lost();
}

void wait(Device& on, cudaStream_t stream) {
  if (!on.peers) return check(cudaStreamSynchronize(stream));
  auto const started = std::chrono::steady_clock::now();
  for (cudaError_t code; (code = cudaStreamQuery(stream)) != cudaSuccess;) {
    if (code != cudaErrorNotReady) check(code);
    on.peers->look();
    if (seconds_since(started) > 0.01) usleep(50);
  }
  on.peers->require();
}

void join_ranks(Device& on, Communicator& ranks) {
  on.peers = std::make_unique<Peers>(on, ranks);
  sum_over_ranks(on, true);
}

void leave_ranks(Device& on) noexcept {
  if (!on.peers) return;
  Current const current(on);
  cudaStreamSynchronize(on.stream);
  cudaGetLastError();
  on.scratch.mail = nullptr;
  on.peers.reset();
}

void sum_over_ranks(Device& on, bool all) noexcept {
  on.scratch.mail = all ? on.peers->mail() : nullptr;
}

}  // namespace tcsolve::cuda
