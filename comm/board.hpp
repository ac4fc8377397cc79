// SPDX-License-Identifier: Apache-2.0
/// Ranks of one host: memory that all of them see, threads of a process or processes that were
/// forked after it was made.
///
///     posts     a place for each rank, written by it and read by all: sums
///               turn 7 | count 2 | 0.5  1.25      two places in turn, so that nobody waits for the
///               turn 6 | count 1 | 3.0            readers of the last one: who writes turn 8 has
///                                                 seen every post of turn 7, whose writers have
///                                                 read turn 6
///     channels  for each pair: a ring of pieces, with the number of those written and of those read
///     failure   the first rank that cannot go on, and why
///
/// Who waits looks again and again, first with its processor, then between others' turns.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

class Board {
 public:
  /// timeout: seconds that a rank waits for another one which is not busy. Throws MemoryError,
  /// ConfigError for a number outside [1, 64].
  explicit Board(int ranks, double timeout = 30);
  ~Board();
  Board(Board const&) = delete;
  Board& operator=(Board const&) = delete;

  int ranks() const { return ranks_; }
  double timeout() const { return timeout_; }
  /// The rank has failed, or was seen to have died, for that reason; the first one to be told of
  /// stands. Of use to any process that has the memory.
  void fail(int rank, std::string const& why, std::string const& kind = {}) noexcept;
  bool failed() const noexcept;
  /// Throws what rethrow_as() makes of the failure of a rank, if there is one.
  void check() const;
  /// Whether its BoardRank has ended.
  bool has_left(int rank) const noexcept;

 private:
  friend class BoardRank;
  static constexpr std::int64_t post_doubles = 256;
  static constexpr std::size_t piece_bytes = std::size_t{64} << 10;
  static constexpr int pieces = 4;  // of a ring
  struct Failure;
  struct Post;
  struct Channel;

  Post& post(int rank) const;
  Channel& channel(int from, int to) const;

  int ranks_;
  double timeout_;
  bool crowded_;  // more ranks than processors: who waits gives its own away at once
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

/// A rank of a board. Its end says to the others that it has left.
class BoardRank final : public Ranks {
 public:
  BoardRank(Board& board, int rank);
  ~BoardRank() override;
  void fail(std::string const& why, std::string const& kind = {}) noexcept override {
    board_.fail(rank_, why, kind);
  }
  bool broken() override { return board_.failed(); }
  /// A device does not see that another rank is busy.
  double patience() const override { return 4 * board_.timeout(); }

 private:
  struct Going {
    int rank;
    std::byte const* data;
    std::size_t left;
  };
  struct Coming {
    int rank;
    std::byte* data;
    std::size_t left;
  };
  int own_rank() const override { return rank_; }
  int rank_count() const override { return board_.ranks(); }
  void gather_all(double const* mine, std::int64_t count, double* all) override;
  void begin(std::span<Outgoing const> out, std::span<Incoming const> in) override;
  void end() override;
  void tell_busy(bool) noexcept override;
  bool move(Going&);
  bool move(Coming&);
  bool move();
  template <class Ready>
  void wait(int other, Ready const& ready);
  [[noreturn]] void mismatch(int other);

  Board& board_;
  int rank_;
  std::uint64_t turn_ = 0;
  std::vector<Going> going_;
  std::vector<Coming> coming_;
};

}  // namespace tcsolve
