// SPDX-License-Identifier: Apache-2.0
/// Ranks that have messages between pairs alone, here through boxes of this process: what MPI does
/// for them is tests/ranks/launched.cpp.
#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include <tcsolve/comm/message_ranks.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

using Lane = Transport::Lane;

/// What is on the way between threads.
struct Post {
  std::mutex guard;
  std::map<std::tuple<int, int, Lane>, std::deque<std::string>> boxes;
  std::map<int, std::deque<std::pair<int, std::string>>> alarms;
};

class PostTransport final : public Transport {
 public:
  PostTransport(Post& post, int rank, int ranks) : post_(post), rank_(rank), ranks_(ranks) {}
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  char const* send(int to, Lane lane, void const* data, std::size_t bytes) override {
    std::lock_guard const lock(post_.guard);
    post_.boxes[{rank_, to, lane}].emplace_back(static_cast<char const*>(data), bytes);
    return nullptr;
  }
  char const* receive(int from, Lane lane, void* data, std::size_t bytes) override {
    open_.push_back({from, lane, static_cast<char*>(data), bytes});
    return nullptr;
  }
  char const* done(Lane lane, bool& all) override {
    std::lock_guard const lock(post_.guard);
    for (auto at = open_.begin(); at != open_.end();) {
      auto& box = post_.boxes[{at->from, rank_, lane}];
      if (at->lane != lane || box.empty()) {
        ++at;
        continue;
      }
      if (box.front().size() != at->bytes) return "a message of another length";
      box.front().copy(at->data, at->bytes);
      box.pop_front();
      at = open_.erase(at);
    }
    all = std::ranges::none_of(open_, [&](Open const& o) { return o.lane == lane; });
    return nullptr;
  }
  int awaited(Lane lane) override {
    for (Open const& o : open_)
      if (o.lane == lane) return o.from;
    return -1;
  }
  void alarm(char const* text, std::size_t bytes) noexcept override {
    std::lock_guard const lock(post_.guard);
    for (int r = 0; r < ranks_; ++r)
      if (r != rank_) post_.alarms[r].emplace_back(rank_, std::string(text, bytes));
  }
  char const* hear(int& from, char* text, std::size_t most, std::size_t& bytes) override {
    std::lock_guard const lock(post_.guard);
    auto& box = post_.alarms[rank_];
    bytes = 0;
    if (box.empty()) return nullptr;
    from = box.front().first;
    bytes = box.front().second.size();
    box.front().second.copy(text, most);
    box.pop_front();
    return nullptr;
  }

 private:
  struct Open {
    int from;
    Lane lane;
    char* data;
    std::size_t bytes;
  };
  Post& post_;
  int rank_, ranks_;
  std::vector<Open> open_;
};

/// f(ranks) by threads; what one throws is told to the others, and its words are the answer.
std::vector<std::string> by_messages(int count, std::function<void(MessageRanks&)> const& f,
                                     double timeout = std::numeric_limits<double>::infinity()) {
  Post post;
  std::vector<std::string> thrown(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      MessageRanks ranks(std::make_unique<PostTransport>(post, r, count), timeout);
      try {
        f(ranks);
      } catch (std::exception const& e) {
        thrown[static_cast<std::size_t>(r)] = e.what();
        ranks.fail(e.what(), kind_of(e));
      }
    });
  for (std::thread& t : threads) t.join();
  return thrown;
}

class ByMessages : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, ByMessages, testing::Values(1, 2, 3, 4, 5, 7, 8));

TEST_P(ByMessages, WhatIsGatheredIsInTheirOrder) {
  auto const thrown = by_messages(GetParam(), [](MessageRanks& ranks) {
    int const n = ranks.ranks(), me = ranks.rank();
    for (std::int64_t count : {0, 1, 2, 300}) {
      std::vector<double> mine(static_cast<std::size_t>(count)), all(mine.size() * n, -1);
      for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = 1000 * me + double(k);
      ranks.gather(mine.data(), count, all.data());
      for (int r = 0; r < n; ++r)
        for (std::int64_t k = 0; k < count; ++k)
          ASSERT_EQ(all[static_cast<std::size_t>(r * count + k)], 1000 * r + double(k));
    }
  });
  for (std::string const& words : thrown) EXPECT_EQ(words, "");
}

TEST_P(ByMessages, MessagesArriveWhileSumsAreMade) {
  auto const thrown = by_messages(GetParam(), [](MessageRanks& ranks) {
    int const n = ranks.ranks(), me = ranks.rank();
    std::vector<std::vector<int>> out(static_cast<std::size_t>(n)), in(out);
    std::vector<Ranks::Outgoing> going;
    std::vector<Ranks::Incoming> coming;
    for (int r = 0; r < n; ++r) {
      if (r == me) continue;
      out[r].assign(static_cast<std::size_t>(100 * me + r), me);
      in[r].resize(static_cast<std::size_t>(100 * r + me));
      going.push_back({r, out[r].data(), out[r].size() * sizeof(int)});
      coming.push_back({r, in[r].data(), in[r].size() * sizeof(int)});
    }
    ranks.begin_exchange(going, coming);
    EXPECT_EQ(ranks.global_size(me + 1), n * (n + 1) / 2);
    ranks.end_exchange();
    for (int r = 0; r < n; ++r)
      if (r != me) EXPECT_EQ(std::ranges::count(in[r], r), std::ptrdiff_t(in[r].size()));
  });
  for (std::string const& words : thrown) EXPECT_EQ(words, "");
}

using Clock = std::chrono::steady_clock;

TEST(MessageRanksFail, WhoeverWaitsThrowsTheSame) {
  auto const start = Clock::now();
  auto const thrown = by_messages(3, [](MessageRanks& ranks) {
    if (ranks.rank() == 1) throw MatrixError("row 7 is odd");
    EXPECT_THROW(barrier(ranks), MatrixError);
    EXPECT_TRUE(ranks.failed());
    barrier(ranks);  // these ranks are done: again
  });
  EXPECT_LT(seconds_since(start), soon());
  EXPECT_EQ(thrown[1], "row 7 is odd");
  for (int r : {0, 2}) EXPECT_EQ(thrown[static_cast<std::size_t>(r)], "rank 1: row 7 is odd");
}

TEST(MessageRanksFail, InAnExchangeToo) {
  auto const start = Clock::now();
  auto const thrown = by_messages(2, [](MessageRanks& ranks) {
    if (ranks.rank() == 1) throw ShapeError("no");
    double x = 0;
    Ranks::Incoming const in{1, &x, sizeof x};
    ranks.begin_exchange({}, {&in, 1});
    ranks.end_exchange();
  });
  EXPECT_LT(seconds_since(start), soon());
  EXPECT_EQ(thrown[0], "rank 1: no");
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Of five, ranks 0 and 4 ask rank 1 itself; 3 asks it second, and 2 asks 0, which waits.
TEST(MessageRanksFail, WhoDoesNotComeInTimeIsNamedByAll) {
  for (int const late : {1, 0, 4}) {
    auto const start = Clock::now();
    std::atomic<int> waiting{4};
    auto const thrown = by_messages(
        5,
        [&](MessageRanks& ranks) {
          if (ranks.rank() == late)
            while (waiting > 0 && seconds_since(start) < 20) sleep_for(0.01);
          try {
            barrier(ranks);
          } catch (RankFailed const&) {
            EXPECT_EQ(ranks.missing(), late);
            --waiting;
            throw;
          }
        },
        0.5);
    EXPECT_LT(seconds_since(start), 0.5 + soon());
    for (std::string const& words : thrown)
      EXPECT_EQ(words, cat("rank ", late, ": it did not come within 0.5 s (ranks.timeout)"));
  }
}

TEST(MessageRanksFail, InAnExchangeTooWhoDoesNotComeIsNamed) {
  std::atomic<bool> over{false};
  auto const thrown = by_messages(
      2,
      [&](MessageRanks& ranks) {
        if (ranks.rank() == 1) {
          auto const start = Clock::now();
          while (!over && seconds_since(start) < 20) sleep_for(0.01);
          return;
        }
        double x = 0;
        Ranks::Incoming const in{1, &x, sizeof x};
        ranks.begin_exchange({}, {&in, 1});
        try {
          ranks.end_exchange();
        } catch (...) {
          over = true;
          throw;
        }
      },
      0.25);
  EXPECT_EQ(thrown[0], "rank 1: it did not come within 0.25 s (ranks.timeout)");
}

/// Where ranks are busy, and in the sum after, nobody is late; from there on one may be.
TEST(MessageRanksFail, NobodyIsLateWhereRanksAreBusy) {
  for (bool const late : {false, true}) {
    auto const thrown = by_messages(
        3,
        [&](MessageRanks& ranks) {
          ranks.busy(true);
          together(ranks, [&] {
            if (ranks.rank() == 1) sleep_for(0.6);
          });
          if (ranks.rank() == 2) sleep_for(0.6);
          ranks.busy(false);
          barrier(ranks);
          if (late && ranks.rank() == 2) sleep_for(1.5);
          barrier(ranks);
        },
        0.25);
    for (std::string const& words : thrown)
      EXPECT_EQ(words, late ? "rank 2: it did not come within 0.25 s (ranks.timeout)" : "");
  }
}

TEST(MessageRanksFail, WhatTheTransportCannotDoEndsAll) {
  auto const thrown = by_messages(2, [](MessageRanks& ranks) {
    std::vector<double> mine(static_cast<std::size_t>(ranks.rank() + 1)), all(2 * mine.size());
    ranks.gather(mine.data(), ranks.rank() + 1, all.data());
    barrier(ranks);
  });
  for (std::string const& words : thrown)
    EXPECT_NE(words.find("a message of another length"), std::string::npos) << words;
}

TEST(MessageRanks, ASolveHasTheBitsOfOneOnABoard) {
  Csr<double> const a = generate(Poisson7Params{.n = 9});
  std::vector<Index> const rows = stretches(a.rows, 3, Deal::uneven);
  auto const solve_with = [&](Ranks& ranks, std::vector<double>& norms) {
    Context ctx(Backend::host, {.threads = 1, .communicator = &ranks});
    auto const A = operator_of(ctx, deal_rows(ctx, a, rows));
    auto const solver = make_solver("cg", {.rtol = 1e-10}, Execution::eager);
    solver->setup(ctx, A);
    Column b(A->rows()), x = Column::Zero(A->rows());
    for (Index i = 0; i < A->rows(); ++i) b[i] = uniform(5, std::uint64_t(rows[ranks.rank()] + i));
    SolveReport const report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    if (ranks.rank() == 0)
      for (auto const& record : report.history) norms.push_back(record.norm);
  };
  std::vector<double> on_board, by_message;
  run_threads(3, [&](Ranks& ranks) { solve_with(ranks, on_board); });
  for (std::string const& words :
       by_messages(3, [&](MessageRanks& ranks) { solve_with(ranks, by_message); }))
    EXPECT_EQ(words, "");
  ASSERT_GT(on_board.size(), 10u);
  ASSERT_EQ(by_message.size(), on_board.size());
  for (std::size_t k = 0; k < on_board.size(); ++k)
    EXPECT_TRUE(same_bits(by_message[k], on_board[k])) << k;
}

}  // namespace
}  // namespace tcsolve::test
