// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/peers.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/device_links.hpp>
#include <tcsolve/core/faults.hpp>

namespace tcsolve::cuda {
namespace {

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

std::atomic<bool> peer_access_refused{false};

void reach(int ordinal, int other) {
  if (!reaches(ordinal, other))
    throw Unsupported(
        cat("device ", ordinal, " does not reach the memory of device ", other,
            ": kernels store over a link between them alone; take 'transport: nccl' or "
            "'mpi', or 'backend: host'"));
  cudaError_t const code = cudaDeviceEnablePeerAccess(other, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check(code);
}

}  // namespace

void refuse_peer_access(bool yes) noexcept { peer_access_refused = yes; }

bool reaches(int ordinal, int other) noexcept {
  if (ordinal == other) return true;
  if (peer_access_refused) return false;
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
  RankCard mine = card_of(on);
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
      mine.address = reinterpret_cast<std::uintptr_t>(memory);
      check(cudaIpcGetMemHandle(&mine.handle, memory));
    });
    std::vector<RankCard> const all = exchange(ranks, mine);
    if (!captured(on.stream)) Released::all().free(on.home);
    require_own_devices(all);
    on_all(ranks, [&] {
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (r == me) continue;
        RankCard const& other = all[r];
        if (other.host != mine.host)
          throw Unsupported(cat("rank ", r,
                                " is on another host: devices of several hosts are not "
                                "reached; take 'transport: nccl' or 'mpi', or 'backend: host'"));
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

std::unique_ptr<SharedPool::Piece> SharedPool::take(Communicator& ranks, std::size_t bytes) {
  constexpr std::size_t line = 256, least = std::size_t{8} << 20;
  Current const current(on_);
  BesideCaptures const beside;
  bytes = (std::max<std::size_t>(bytes, 1) + line - 1) / line * line;
  bool const meets = !captured(on_.stream);
  if (meets) wait(on_, on_.stream);  // what this rank has written elsewhere is there
  std::vector<Stretch> cleared;
  {
    std::lock_guard<std::mutex> const turn(releasing_);
    if (meets) cleared = std::exchange(released_, {});
  }
  Stretch mine{};
  bool const has = cut(bytes, mine);
  // A block that is -1: there is none.
  double const told[2] = {has ? static_cast<double>(mine.block) : -1.0,
                          static_cast<double>(mine.at)};
  auto const count = static_cast<std::size_t>(ranks.ranks());
  std::vector<double> all(2 * count);
  ranks.gather(told, 2, all.data());
  bool everywhere = true;
  for (std::size_t r = 0; r < count; ++r) everywhere = everywhere && all[2 * r] >= 0;
  if (!cleared.empty()) {
    for (Stretch const& s : cleared) {
      std::byte* const here = blocks_[s.block]->of(ranks.rank()) + s.at;
      check(cudaMemsetAsync(here, 0, s.bytes, on_.memory_stream));
    }
    check(cudaStreamSynchronize(on_.memory_stream));
    for (Stretch const& s : cleared) put(s);
  }
  if (!everywhere) {
    if (has) put(mine);
    std::size_t const whole = std::max(bytes, least);
    blocks_.push_back(std::make_unique<SharedMemory>(on_, ranks, whole));
    mine = {blocks_.size() - 1, 0, bytes};
    if (whole > bytes) put({mine.block, bytes, whole - bytes});
    for (std::size_t r = 0; r < count; ++r)
      all[2 * r] = static_cast<double>(mine.block), all[2 * r + 1] = 0;
  }
  std::vector<std::byte*> seen;
  for (std::size_t r = 0; r < count; ++r)
    seen.push_back(blocks_[static_cast<std::size_t>(all[2 * r])]->of(static_cast<int>(r)) +
                   static_cast<std::size_t>(all[2 * r + 1]));
  return std::make_unique<Piece>(shared_from_this(), mine.block, mine.at, bytes, std::move(seen));
}

void SharedPool::release(std::size_t block, std::size_t at, std::size_t bytes) noexcept {
  Current const current(on_);
  BesideCaptures const beside;
  // What writes to others is done.
  if (!captured(on_.stream) && cudaStreamSynchronize(on_.stream) != cudaSuccess) cudaGetLastError();
  std::lock_guard<std::mutex> const turn(releasing_);
  try {
    released_.push_back({block, at, bytes});
  } catch (...) {}  // no room to remember it: lost
}

/// The first that is long enough.
bool SharedPool::cut(std::size_t bytes, Stretch& out) {
  for (auto s = free_.begin(); s != free_.end(); ++s) {
    if (s->bytes < bytes) continue;
    out = {s->block, s->at, bytes};
    s->at += bytes, s->bytes -= bytes;
    if (s->bytes == 0) free_.erase(s);
    return true;
  }
  return false;
}

void SharedPool::put(Stretch const& s) {
  auto const place = [](Stretch const& of) { return std::pair(of.block, of.at); };
  auto at = std::ranges::upper_bound(free_, place(s), {}, place);
  at = free_.insert(at, s);
  auto const join = [&](auto first, auto second) {
    if (first->block != second->block || first->at + first->bytes != second->at) return false;
    first->bytes += second->bytes;
    free_.erase(second);
    return true;
  };
  if (at + 1 != free_.end()) join(at, at + 1);
  if (at != free_.begin()) join(at - 1, at);
}

Peers::Peers(Device& on, Communicator& all)
    : RankLink(all, DeviceTransport::peer),
      posts_(on, all, RankMail::bytes(all.ranks())),
      pool_(std::make_shared<SharedPool>(on)) {
  if (all.ranks() > RankMail::most_ranks)
    throw Unsupported(cat(all.ranks(), " ranks of devices; there can be ", RankMail::most_ranks));
  Current const current(on);
  try_out(on);
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
  pool_->take(all, 1);  // its first block, before somebody times a set-up
}

Peers::~Peers() {
  if (mail_ != nullptr && cudaFree(mail_) != cudaSuccess) cudaGetLastError();
  release_pinned(given_up_);
}

/// Stores a number of its own into the memory of each rank, looks at what comes, and clears it.
void Peers::try_out(Device& on) {
  BesideCaptures const beside;
  auto const count = static_cast<std::size_t>(ranks.ranks());
  int const me = ranks.rank();
  std::vector<double> seen(count);
  double const mine = 0.5 + me;
  on_all(ranks, [&] {
    for (int r = 0; r < ranks.ranks(); ++r)
      check(cudaMemcpyAsync(posts_.of(r) + sizeof mine * static_cast<std::size_t>(me), &mine,
                            sizeof mine, cudaMemcpyDefault, on.memory_stream));
    check(cudaStreamSynchronize(on.memory_stream));
  });
  on_all(ranks, [&] {
    std::size_t const bytes = count * sizeof mine;
    check(cudaMemcpyAsync(seen.data(), posts_.of(me), bytes, cudaMemcpyDefault, on.memory_stream));
    check(cudaMemsetAsync(posts_.of(me), 0, bytes, on.memory_stream));
    check(cudaStreamSynchronize(on.memory_stream));
    for (std::size_t r = 0; r < count; ++r)
      if (seen[r] != 0.5 + double(r) ||
          faults::transport_fails(static_cast<int>(DeviceTransport::peer)))
        throw Unsupported(cat("what rank ", r, " has stored to try it out has not come"));
  });
}

void Peers::look(double) noexcept {
  if (ranks.broken()) *static_cast<std::int32_t volatile*>(given_up_) = 1;
}

void Peers::require() {
  if (*static_cast<std::int32_t volatile*>(given_up_) != 0) ranks.lost();
}

}  // namespace tcsolve::cuda
