// SPDX-License-Identifier: Apache-2.0
/// The host's loops: every element once, on as many threads as the Context has, those of several
/// owners side by side, whatever is thrown and also after a fork.
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/reductions.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using namespace std::chrono_literals;

template <class F>
void share(int threads, std::int64_t n, F const& f) {
  host::share_loop(threads, 0, n,
                   {[](void const* body, std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) (*static_cast<F const*>(body))(i);
                    },
                    &f});
}

/// Counts those who are inside, and waits until there are `wanted`. False after ten seconds.
class Meeting {
 public:
  explicit Meeting(int wanted) : wanted_(wanted) {}
  bool wait() {
    ++here_;
    auto const late = std::chrono::steady_clock::now() + 10s;
    while (here_ < wanted_)
      if (std::chrono::steady_clock::now() > late) return false;
    return true;
  }

 private:
  int wanted_;
  std::atomic<int> here_{0};
};

TEST(HostLoops, DoEveryElementOnce) {
  for (int threads : {1, 2, 3, 8})
    for (std::int64_t n : {0, 1, 2, 7, 1000, 100003}) {
      std::vector<std::atomic<int>> times(n);
      for (int again = 0; again < 3; ++again)
        share(threads, n, [&](std::int64_t i) { ++times[i]; });
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(times[i], 3) << threads << " threads, element " << i << " of " << n;
    }
}

TEST(HostLoops, RunOnTheThreadsOfTheContext) {
  for (int threads : {1, 3}) {
    Context ctx(Backend::host, {.threads = threads});
    EXPECT_EQ(ctx.threads(), threads);
    EXPECT_EQ(ctx.device_name(), threads == 1 ? "host, 1 thread" : "host, 3 threads");
    // Not at once where other programs have the processors.
    std::set<std::thread::id> seen;
    std::mutex guard;
    auto const late = std::chrono::steady_clock::now() + 10s;
    while (std::ssize(seen) < threads && std::chrono::steady_clock::now() < late)
      ctx.visit([&]<class On>(On&) {
        host::parallel(100, 1, [&](std::int64_t) {
          std::this_thread::sleep_for(20us);
          std::lock_guard const one(guard);
          seen.insert(std::this_thread::get_id());
        });
      });
    EXPECT_EQ(std::ssize(seen), threads);
  }
}

TEST(HostLoops, TakeNoMoreThreadsThanTheyMay) {
  std::mutex guard;
  std::set<std::thread::id> seen;
  share(2, 1000, [&](std::int64_t) {
    std::this_thread::sleep_for(20us);
    std::lock_guard const one(guard);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 2u);
}

/// Each waits inside its loop for the other: with one loop at a time in a process nobody came.
TEST(HostLoops, OfTwoThreadsRunSideBySide) {
  for (int threads : {1, 2}) {
    Meeting meeting(2);
    auto const solve = [&] {
      Context ctx(Backend::host, {.threads = threads});
      ctx.visit([&]<class On>(On&) {
        std::atomic<bool> first{true};
        host::parallel(64, 2, [&](std::int64_t) {
          if (first.exchange(false)) EXPECT_TRUE(meeting.wait()) << threads;
        });
      });
    };
    std::thread other(solve);
    solve();
    other.join();
  }
}

TEST(HostLoops, GiveTheSameBitsOnAnyThreads) {
  auto const x = random_values(50000, 1), y = random_values(50000, 2);
  std::set<double> sums;
  for (int threads : {1, 2, 3, 5}) {
    Context ctx(Backend::host, {.threads = threads});
    double sum = 0;
    dot<double>(ctx, vector_view(x.data(), 50000), vector_view(y.data(), 50000), &sum);
    sums.insert(sum);
  }
  EXPECT_EQ(sums.size(), 1u);
}

TEST(HostLoops, PassOnWhatIsThrownAndGoOn) {
  for (int threads : {1, 2, 4}) {
    EXPECT_THROW(share(threads, 1000,
                       [](std::int64_t i) {
                         if (i % 100 == 7) throw std::runtime_error("an element");
                       }),
                 std::runtime_error);
    std::atomic<int> done{0};
    share(threads, 1000, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 1000);
  }
}

TEST(HostLoops, InsideALoopAreSerial) {
  std::atomic<int> done{0};
  share(3, 10, [&](std::int64_t) {
    auto const me = std::this_thread::get_id();
    share(3, 100, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      ++done;
    });
  });
  EXPECT_EQ(done, 1000);
}

/// OpenMP's threads do not come along, and a loop in the child waited for them for ever.
TEST(HostLoops, RunInAForkedChild) {
  std::atomic<int> done{0};
  share(2, 1000, [&](std::int64_t) { ++done; });
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int> here{0};
    for (int again = 0; again < 10; ++again) share(2, 1000, [&](std::int64_t) { ++here; });
    _exit(here == 10000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(HostLoops, ThreadsComeFromTheEnvironmentWhereNoneAreAskedFor) {
  char const* const now = std::getenv("OMP_NUM_THREADS");
  std::string const before = now == nullptr ? "" : now;
  auto const with = [](char const* value) {
    setenv("OMP_NUM_THREADS", value, 1);
    return thread_count(0);
  };
  unsetenv("OMP_NUM_THREADS");
  int const all = thread_count(0);
  EXPECT_EQ(all, std::max(1, int(std::thread::hardware_concurrency())));
  EXPECT_EQ(with("5"), 5);
  EXPECT_EQ(with("3,2"), 3);
  EXPECT_EQ(with("9999999999999999999"), 1024);
  EXPECT_EQ(with("-1"), all);
  EXPECT_EQ(with("many"), all);
  EXPECT_EQ(thread_count(7), 7);
  if (now == nullptr)
    unsetenv("OMP_NUM_THREADS");
  else
    setenv("OMP_NUM_THREADS", before.c_str(), 1);
}

}  // namespace
}  // namespace tcsolve::test
