// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/board.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <tcsolve/comm/spin_wait.hpp>
#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/parallel.hpp>

namespace tcsolve {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

/// Written once, by the first rank that fails.
struct alignas(64) Board::Failure {
  std::atomic<int> taken, told;  // told: 1 + rank, once the text is there
  char text[1000], kind[200];
};

namespace {

template <std::size_t size>
void write(std::string const& from, char (&to)[size]) {
  std::size_t const length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

}  // namespace

struct alignas(64) Board::Post {
  std::atomic<std::uint64_t> turn;
  std::atomic<int> busy, left;
  struct alignas(64) Place {
    std::int64_t count;
    double values[post_doubles];
  } places[2];
};

struct Board::Channel {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  struct alignas(64) Piece {
    std::size_t bytes;
    std::byte data[piece_bytes];
  } ring[pieces];
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share them");

Board::Board(int ranks, double timeout)
    : ranks_(ranks), timeout_(timeout), crowded_(ranks > thread_count(0)) {
  if (ranks < 1 || ranks > 64) throw ConfigError(cat("ranks = ", ranks, " is outside [1, 64]"));
  auto const n = static_cast<std::size_t>(ranks);
  bytes_ = sizeof(Failure) + n * sizeof(Post) + n * n * sizeof(Channel);
  // Zeros, of which pages that nobody uses take no memory; children that are forked share them.
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw MemoryError(cat("host memory: ", bytes_, " bytes that ", ranks, " ranks share"));
  memory_ = static_cast<std::byte*>(memory);
}

Board::~Board() { munmap(memory_, bytes_); }

Board::Post& Board::post(int rank) const {
  return reinterpret_cast<Post*>(memory_ + sizeof(Failure))[rank];
}

Board::Channel& Board::channel(int from, int to) const {
  std::byte* const first =
      memory_ + sizeof(Failure) + static_cast<std::size_t>(ranks_) * sizeof(Post);
  return reinterpret_cast<Channel*>(first)[from * ranks_ + to];
}

void Board::fail(int rank, std::string const& why, std::string const& kind) noexcept {
  auto& failure = *reinterpret_cast<Failure*>(memory_);
  if (failure.taken.exchange(1) != 0) return;
  write(why, failure.text);
  write(kind, failure.kind);
  failure.told.store(rank + 1, std::memory_order_release);
}

bool Board::failed() const noexcept {
  return reinterpret_cast<Failure const*>(memory_)->told.load(std::memory_order_acquire) != 0;
}

void Board::check() const {
  auto const& failure = *reinterpret_cast<Failure const*>(memory_);
  if (int const told = failure.told.load(std::memory_order_acquire); told != 0)
    rethrow_as(failure.kind, told - 1, failure.text);
}

bool Board::has_left(int rank) const noexcept {
  return post(rank).left.load(std::memory_order_acquire) != 0;
}

BoardRank::BoardRank(Board& board, int rank) : board_(board), rank_(rank) {}

BoardRank::~BoardRank() { board_.post(rank_).left.store(1, std::memory_order_release); }

void BoardRank::tell_busy(bool on) noexcept {
  board_.post(rank_).busy.store(on ? 1 : 0, std::memory_order_relaxed);
}

template <class Ready>
void BoardRank::wait(int other, Ready const& ready) {
  if (ready()) return;
  Board::Post const& there = board_.post(other);
  SpinWait waiting(board_.crowded_);
  std::optional<Clock::time_point> since;
  for (;; waiting.pause()) {
    if (ready()) return;
    board_.check();
    if (board_.has_left(other)) {
      if (ready()) return;  // it has left after that
      board_.fail(other, "it has left while others wait for it");
      board_.check();
    }
    if (!waiting.looks_at_clock()) continue;
    Clock::time_point const now = Clock::now();
    if (!since || there.busy.load(std::memory_order_relaxed) != 0) since = now;
    if (std::chrono::duration<double>(now - *since).count() > board_.timeout_) {
      board_.fail(other, cat("it did not come within ", board_.timeout_, " s (ranks.timeout)"));
      board_.check();
    }
  }
}

void BoardRank::mismatch(int other) {
  board_.fail(rank_, cat("it and rank ", other, " ask different things of each other"));
  board_.check();
  throw RankFailed(rank_, "the ranks ask different things of each other");
}

void BoardRank::gather_all(double const* mine, std::int64_t count, double* all) {
  board_.check();
  std::int64_t first = 0;
  do {  // once at least, which is a barrier
    std::int64_t const size = std::min(count - first, Board::post_doubles);
    std::uint64_t const turn = ++turn_;
    Board::Post& own = board_.post(rank_);
    auto& place = own.places[turn % 2];
    place.count = count;
    std::copy_n(mine + first, size, place.values);
    own.turn.store(turn, std::memory_order_release);
    for (int r = 0; r < board_.ranks(); ++r) {
      Board::Post const& post = board_.post(r);
      wait(r, [&] { return post.turn.load(std::memory_order_acquire) >= turn; });
      auto const& other = post.places[turn % 2];
      if (other.count != count) mismatch(r);
      std::copy_n(other.values, size, all + r * count + first);
    }
    first += size;
  } while (first < count);
}

void BoardRank::begin(std::span<Outgoing const> out, std::span<Incoming const> in) {
  if (!going_.empty() || !coming_.empty()) throw std::logic_error("an exchange is open already");
  for (Outgoing const& o : out)
    if (o.bytes > 0) going_.push_back({o.to, static_cast<std::byte const*>(o.data), o.bytes});
  for (Incoming const& i : in)
    if (i.bytes > 0) coming_.push_back({i.from, static_cast<std::byte*>(i.data), i.bytes});
  for (Going& g : going_) move(g);
}

/// Moves a piece where that can be now.
bool BoardRank::move(Going& g) {
  Board::Channel& channel = board_.channel(rank_, g.rank);
  std::uint64_t const written = channel.written.load(std::memory_order_relaxed);
  if (written - channel.read.load(std::memory_order_acquire) >= Board::pieces) return false;
  auto& piece = channel.ring[written % Board::pieces];
  piece.bytes = g.left;  // all that is to come, so that both can be seen to mean the same
  std::size_t const size = std::min(g.left, Board::piece_bytes);
  std::memcpy(piece.data, g.data, size);
  channel.written.store(written + 1, std::memory_order_release);
  g.data += size;
  g.left -= size;
  return true;
}

bool BoardRank::move(Coming& c) {
  Board::Channel& channel = board_.channel(c.rank, rank_);
  std::uint64_t const read = channel.read.load(std::memory_order_relaxed);
  if (channel.written.load(std::memory_order_acquire) == read) return false;
  auto const& piece = channel.ring[read % Board::pieces];
  if (piece.bytes != c.left) mismatch(c.rank);
  std::size_t const size = std::min(c.left, Board::piece_bytes);
  std::memcpy(c.data, piece.data, size);
  channel.read.store(read + 1, std::memory_order_release);
  c.data += size;
  c.left -= size;
  return true;
}

/// Moves what can be moved; whether anything was.
bool BoardRank::move() {
  bool moved = false;
  for (Going& g : going_)
    while (g.left > 0 && move(g)) moved = true;
  for (Coming& c : coming_)
    while (c.left > 0 && move(c)) moved = true;
  std::erase_if(going_, [](Going const& g) { return g.left == 0; });
  std::erase_if(coming_, [](Coming const& c) { return c.left == 0; });
  return moved;
}

void BoardRank::end() {
  try {
    while (move(), !going_.empty() || !coming_.empty())
      wait(coming_.empty() ? going_.front().rank : coming_.front().rank, [&] { return move(); });
  } catch (...) {
    going_.clear();
    coming_.clear();
    throw;
  }
}

}  // namespace tcsolve
