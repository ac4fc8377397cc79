// SPDX-License-Identifier: Apache-2.0
/// What ranks have to say to each other beside the sums that a Context asks of them
/// (core/communicator.hpp): messages from one to another, and that one has failed.
///
///     rank 0  --- begin_exchange: what goes out, where what comes in lands ---  local work  --- end_exchange
///     rank 1  --- the same; only those that a message joins wait for each other ---  ..
///
/// Whoever waits for another rank waits for a bounded time, and not for one that has failed: then
/// it throws what that has thrown, or RankFailed, and so do all that wait from there on. A rank
/// that works by itself for long says so (busy()), and nobody's patience ends meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tcsolve/core/communicator.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve {

/// Another rank has died or left, or did not come in time (exit code 5). The message begins with
/// its number.
struct RankFailed : Error {
  RankFailed(int which, std::string const& text)
      : Error(cat("rank ", which, ": ", text)), rank(which) {}
  int rank;
};

/// One of several ranks. Every function is for the thread of the rank alone.
///
/// Ranks go the same way because what they gather, and so each sum, is the same bits on all. With
/// TCSOLVE_CHECK_RANKS=1 in the environment of all that is looked at: each keeps a hash of it, and
/// before they gather anything they compare these, and how much they are about to gather.
class Ranks : public Communicator {
 public:
  Ranks();
  int rank() const final { return alone_ ? 0 : own_rank(); }
  int ranks() const final { return alone_ ? 1 : rank_count(); }
  /// Throws RankFailed on all where TCSOLVE_CHECK_RANKS=1 finds a rank that has gathered other
  /// numbers.
  void gather(double const* mine, std::int64_t count, double* all) final;

  void begin_exchange(std::span<Outgoing const> out, std::span<Incoming const> in) final;
  void end_exchange() final;

  /// This rank cannot go on, for that reason: whoever waits for another one learns of it at once.
  /// The first failure stands, and is the end of these ranks. kind: of the exception that it was
  /// (comm/together.hpp), which they throw too; "": RankFailed.
  virtual void fail(std::string const& why, std::string const& kind = {}) noexcept = 0;
  [[noreturn]] void lost() final;
  /// For as long as it is busy others wait for this rank without an end. Calls nest. Ranks that
  /// have messages alone are not told: they say so at the same place as this one, and then know.
  void busy(bool on) noexcept;

  /// What is thrown next is thrown by every rank (together()): said by who throws it, and heard
  /// once.
  void settle() { settled_ = true; }
  bool was_settled() { return std::exchange(settled_, false); }
  /// f(), in which this rank answers as the only one there is: what f sums is its own.
  template <class F>
  void alone(F const& f) {
    struct Guard {
      bool& slot;
      bool before;
      ~Guard() { slot = before; }
    } const guard{alone_, alone_};
    alone_ = true;
    f();
  }

 protected:
  bool is_busy() const { return busy_ > 0; }

 private:
  virtual int own_rank() const = 0;
  virtual int rank_count() const = 0;
  virtual void gather_all(double const* mine, std::int64_t count, double* all) = 0;
  virtual void begin(std::span<Outgoing const> out, std::span<Incoming const> in) = 0;
  virtual void end() = 0;
  /// It has become busy, or is so no longer.
  virtual void tell_busy(bool) noexcept {}

  void require_alike(std::int64_t count);

  bool alone_ = false, settled_ = false;
  int busy_ = 0;  // how often it is
  bool checks_;
  std::uint64_t hash_ = 0xcbf29ce484222325u;  // of `gathered_` numbers
  std::int64_t gathered_ = 0;
};

/// A rank without others.
class OneRank final : public Ranks {
 public:
  void fail(std::string const&, std::string const&) noexcept override {}

 private:
  int own_rank() const override { return 0; }
  int rank_count() const override { return 1; }
  void gather_all(double const* mine, std::int64_t count, double* all) override;
  void begin(std::span<Outgoing const>, std::span<Incoming const>) override {}
  void end() override {}
};

/// The ranks of a Context; null where it is the only one, or its communicator has no messages.
Ranks* ranks_of(Context const& ctx);
/// The same, or a OneRank. Throws Unsupported for several ranks that have no messages.
Ranks& all_ranks(Context const& ctx);
/// f() as that of the Context's rank alone (Ranks::alone()).
template <class F>
void alone(Context const& ctx, F const& f) {
  if (Ranks* const ranks = ranks_of(ctx))
    ranks->alone(f);
  else
    f();
}

/// The least of what the Context's ranks say.
double least(Context const& ctx, double mine);
/// What each rank has, in rank order.
std::vector<std::int64_t> gather(Ranks&, std::int64_t mine);
std::vector<double> gather(Ranks&, double mine);
std::vector<std::string> gather(Ranks&, std::string const& mine);
/// Waits until every rank has come here.
void barrier(Ranks&);

/// in[r] of each rank is what rank r has as out[rank]. Bytes are those of T. Cost: two sums, and a
/// message for each pair that has something to say.
template <class T>
std::vector<std::vector<T>> all_to_all(Ranks& ranks, std::vector<std::vector<T>> const& out);

// ---- implementation ----

namespace detail {
/// bytes[r * ranks + s]: from r to s.
std::vector<double> message_sizes(Ranks&, std::vector<double> const& mine);
}  // namespace detail

template <class T>
std::vector<std::vector<T>> all_to_all(Ranks& ranks, std::vector<std::vector<T>> const& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  int const count = ranks.ranks(), me = ranks.rank();
  std::vector<double> mine;
  for (auto const& to : out) mine.push_back(static_cast<double>(to.size()));
  std::vector<double> const sizes = detail::message_sizes(ranks, mine);
  std::vector<std::vector<T>> in(static_cast<std::size_t>(count));
  std::vector<Ranks::Outgoing> going;
  std::vector<Ranks::Incoming> coming;
  for (int r = 0; r < count; ++r) {
    auto& from = in[static_cast<std::size_t>(r)];
    auto const& to = out[static_cast<std::size_t>(r)];
    if (r == me) {
      from = to;
      continue;
    }
    from.resize(static_cast<std::size_t>(sizes[static_cast<std::size_t>(r * count + me)]));
    if (!to.empty()) going.push_back({r, to.data(), to.size() * sizeof(T)});
    if (!from.empty()) coming.push_back({r, from.data(), from.size() * sizeof(T)});
  }
  ranks.begin_exchange(going, coming);
  ranks.end_exchange();
  return in;
}

}  // namespace tcsolve
