// SPDX-License-Identifier: Apache-2.0
/// What ranks say to each other: sums, messages, failures. Threads of this process, and processes.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <tcsolve/comm/processes.hpp>
#include <tcsolve/core/timed.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

using Clock = std::chrono::steady_clock;

class OverRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, OverRanks, testing::Values(1, 2, 3, 4, 7));

TEST_P(OverRanks, WhatIsGatheredIsInTheirOrder) {
  run_threads(GetParam(), [](Ranks& ranks) {
    int const n = ranks.ranks(), me = ranks.rank();
    for (std::int64_t count : {0, 1, 2, 255, 256, 257, 1000}) {
      std::vector<double> mine(static_cast<std::size_t>(count)), all(mine.size() * n, -1);
      for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = 1000 * me + double(k);
      ranks.gather(mine.data(), count, all.data());
      for (int r = 0; r < n; ++r)
        for (std::int64_t k = 0; k < count; ++k)
          ASSERT_EQ(all[static_cast<std::size_t>(r * count + k)], 1000 * r + double(k));
    }
    std::vector<std::string> const words =
        gather(ranks, std::string(static_cast<std::size_t>(me), 'x'));
    for (int r = 0; r < n; ++r)
      EXPECT_EQ(words[static_cast<std::size_t>(r)], std::string(static_cast<std::size_t>(r), 'x'));
    EXPECT_EQ(gather(ranks, std::int64_t{-5} - me).back(), -4 - n);
  });
}

TEST_P(OverRanks, EveryMessageArrivesWhateverItsSize) {
  run_threads(GetParam(), [](Ranks& ranks) {
    int const n = ranks.ranks(), me = ranks.rank();
    // Some longer than all that a channel holds at a time, some of no bytes.
    auto const size = [](int from, int to, int turn) {
      return static_cast<std::size_t>((from * 7 + to * 3 + turn) % 3 == 0 ? 0
                                      : (from + to + turn) % 2 == 0       ? 50'000 + 11 * from
                                                                          : 17 + to);
    };
    for (int turn = 0; turn < 5; ++turn) {
      std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(n));
      for (int r = 0; r < n; ++r) {
        auto& to = out[static_cast<std::size_t>(r)];
        to.resize(size(me, r, turn));
        std::iota(to.begin(), to.end(), std::int64_t{me} * 1'000'000 + r * 1000 + turn);
      }
      auto const in = all_to_all(ranks, out);
      for (int r = 0; r < n; ++r) {
        auto const& from = in[static_cast<std::size_t>(r)];
        ASSERT_EQ(from.size(), size(r, me, turn));
        for (std::size_t k = 0; k < from.size(); ++k)
          ASSERT_EQ(from[k], std::int64_t{r} * 1'000'000 + me * 1000 + turn + std::int64_t(k));
      }
    }
  });
}

TEST_P(OverRanks, SumsHaveTheSameBitsOnAllAndInEveryRun) {
  int const n = GetParam();
  double first = 0;
  for (int run = 0; run < 20; ++run) {
    std::vector<double> seen(static_cast<std::size_t>(n));
    on_ranks(n, [&](Context& ctx, int rank) {
      double const mine = uniform(3, static_cast<std::uint64_t>(rank)) / 3;
      double total = 0;
      ctx.visit([&](auto& on) {
        if constexpr (!OnDevice<std::remove_reference_t<decltype(on)>>)
          host::end_sums<Add>(on, &mine, 1, 1, &total);
      });
      seen[static_cast<std::size_t>(rank)] = total;
    });
    if (run == 0) first = seen[0];
    for (double const s : seen) ASSERT_TRUE(same_bits(s, first)) << s << " is not " << first;
  }
}

TEST(RanksFail, WhoeverWaitsLearnsOfItAtOnce) {
  auto const start = Clock::now();
  std::atomic<int> told{0};
  try {
    run_threads(3, [&](Ranks& ranks) {
      if (ranks.rank() == 1) throw MatrixError("row 7 is odd");
      try {
        barrier(ranks);
      } catch (MatrixError const& e) {
        EXPECT_STREQ(e.what(), "rank 1: row 7 is odd");
        ++told;
        throw;
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (MatrixError const& e) { EXPECT_STREQ(e.what(), "row 7 is odd"); }
  EXPECT_EQ(told, 2);
  EXPECT_LT(seconds_since(start), soon());
}

TEST(RanksFail, InAnExchangeToo) {
  auto const start = Clock::now();
  EXPECT_THROW(run_threads(2,
                           [&](Ranks& ranks) {
                             if (ranks.rank() == 1) throw ShapeError("no");
                             double x = 0;
                             Ranks::Incoming const in{1, &x, sizeof x};
                             ranks.begin_exchange({}, {&in, 1});
                             EXPECT_THROW(ranks.end_exchange(), ShapeError);
                           }),
               ShapeError);
  EXPECT_LT(seconds_since(start), soon());
}

TEST(RanksFail, OneThatLeavesAndOneThatDoesNotCome) {
  std::string left, late;
  auto start = Clock::now();
  run_threads(2, [&](Ranks& ranks) {
    if (ranks.rank() == 1) return;
    left = words_of<RankFailed>([&] { barrier(ranks); });
  });
  EXPECT_NE(left.find("rank 1: it has left"), std::string::npos) << left;
  EXPECT_LT(seconds_since(start), soon());
  start = Clock::now();
  run_threads(
      2,
      [&](Ranks& ranks) {
        if (ranks.rank() == 0)
          late = words_of<RankFailed>([&] { barrier(ranks); });
        else
          while (late.empty() && seconds_since(start) < 10)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
      },
      0.3);
  EXPECT_NE(late.find("rank 1: it did not come within 0.29"), std::string::npos) << late;
  EXPECT_LT(seconds_since(start), 0.3 + soon());
}

TEST(RanksFail, NobodyIsLateWhileItIsBusy) {
  run_threads(
      2,
      [&](Ranks& ranks) {
        if (ranks.rank() == 1) {
          ranks.busy(true);
          std::this_thread::sleep_for(std::chrono::milliseconds(700));
          ranks.busy(false);
        }
        barrier(ranks);
      },
      0.2);
}

TEST(RanksFail, DifferentQuestionsAreFound) {
  EXPECT_THROW(run_threads(2,
                           [](Ranks& ranks) {
                             std::vector<double> v(4), all(8);
                             ranks.gather(v.data(), 1 + ranks.rank(), all.data());
                           }),
               RankFailed);
}

TEST(RanksTogether, AllThrowWhatOneThrowsAndGoOn) {
  run_threads(3, [](Ranks& ranks) {
    for (int guilty = 0; guilty < 3; ++guilty) {
      auto const run = [&] {
        together(ranks, [&] {
          if (ranks.rank() == guilty) throw MatrixError("bad row");
        });
      };
      try {
        run();
        ADD_FAILURE() << "rank " << ranks.rank() << " has thrown nothing";
      } catch (MatrixError const& e) {
        EXPECT_EQ(std::string(e.what()),
                  ranks.rank() == guilty ? "bad row" : cat("rank ", guilty, ": bad row"));
      }
    }
    together(ranks, [] {});
    EXPECT_EQ(gather(ranks, 1.0).size(), 3u);
  });
}

TEST(RanksTogether, AreOfOneBuild) {
  run_threads(3, [](Ranks& ranks) {
    require_one_build(ranks, "a1b2");
    EXPECT_EQ(
        words_of<ConfigError>([&] { require_one_build(ranks, ranks.rank() == 2 ? "c3" : "a1b2"); }),
        "rank 2 is of tcsolve c3, rank 0 of a1b2; start one build on all");
    barrier(ranks);  // all are well
  });
}

TEST(RanksAlone, ItsSumsAreItsOwn) {
  on_ranks(2, [](Context& ctx, int rank) {
    Communicator& ranks = ctx.communicator();
    EXPECT_EQ(ranks.global_size(3), 6);
    alone(ctx, [&] {
      EXPECT_EQ(ranks.global_size(3), 3);
      EXPECT_FALSE(ranks.extends_sums());
      EXPECT_EQ(ranks.rank(), 0);
    });
    EXPECT_EQ(ranks.rank(), rank);
  });
}

// ---- processes ----

/// The exit code of run_processes(), within a process that has no threads.
int code_of(int count, double timeout, std::function<int(Ranks&)> const& f) {
  std::fflush(nullptr);
  pid_t const pid = fork();
  if (pid == 0) _exit(run_processes(count, timeout, f));
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(RankProcesses, SumAndExchange) {
  EXPECT_EQ(code_of(4, 20,
                    [](Ranks& ranks) {
                      double total = 0;
                      for (double const v : gather(ranks, 1.5 * ranks.rank())) total += v;
                      std::vector<std::vector<int>> out(4);
                      for (int r = 0; r < 4; ++r) out[r].assign(100'000, 10 * ranks.rank() + r);
                      auto const in = all_to_all(ranks, out);
                      for (int r = 0; r < 4; ++r)
                        if (in[r].size() != 100'000 || in[r].back() != 10 * r + ranks.rank())
                          return 1;
                      return total == 9 ? 0 : 2;
                    }),
            0);
}

TEST(RankProcesses, OneThatIsKilledEndsTheOthers) {
  auto const start = Clock::now();
  EXPECT_EQ(code_of(3, 20,
                    [](Ranks& ranks) {
                      barrier(ranks);
                      if (ranks.rank() == 2) raise(SIGKILL);
                      try {
                        barrier(ranks);
                      } catch (RankFailed const& e) {
                        return std::string(e.what()).find("signal 9") != std::string::npos ? 5 : 1;
                      }
                      return 0;
                    }),
            5);
  EXPECT_LT(seconds_since(start), soon());
}

TEST(RankProcesses, WhoDoesNotEndIsKilled) {
  auto const start = Clock::now();
  EXPECT_EQ(code_of(2, 0.5,
                    [](Ranks& ranks) {
                      if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
                      try {
                        barrier(ranks);
                      } catch (RankFailed const&) { return 5; }
                      return 0;
                    }),
            5);
  EXPECT_LT(seconds_since(start), 2 * 0.5 + soon());  // who waits for it, and then who ends it
}

TEST(RankProcesses, ASignalGoesOnToAll) {
  std::fflush(nullptr);
  pid_t const pid = fork();
  if (pid == 0)
    _exit(run_processes(2, 20, [](Ranks& ranks) {
      static volatile sig_atomic_t heard = 0;
      std::signal(SIGUSR1, [](int) { heard = 1; });
      barrier(ranks);
      if (ranks.rank() == 0) kill(getppid(), SIGUSR1);
      for (int k = 0; k < 2000 && heard == 0; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return gather(ranks, double(heard)) == std::vector<double>{1, 1} ? 7 : 1;
    }));
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace tcsolve::test
