// SPDX-License-Identifier: Apache-2.0
/// Tasks on plain std::threads, for readers, generators and orders: what works on host matrices
/// before any backend exists.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <tcsolve/core/cancel.hpp>

namespace tcsolve {

/// `requested` threads. When it is 0: OMP_NUM_THREADS where that begins with a number above 0, else
/// one for each processor that the process may use. Between 1 and 1024.
inline int thread_count(int requested) {
  if (requested > 0) return std::min(requested, 1024);
  if (char const* text = std::getenv("OMP_NUM_THREADS")) {
    long const asked = std::strtol(text, nullptr, 10);
    if (asked > 0) return static_cast<int>(std::min(asked, 1024L));
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1024);
}

/// Calls body(task, worker) once for every task in [0, tasks), worker in [0, threads). Tasks are
/// handed out in ascending order and end in any order. When tasks throw, no new ones start, and the
/// exception of the lowest task that threw is rethrown: the same one for every thread count.
template <class Body>
void parallel_tasks(int threads, std::int64_t tasks, Body const& body) {
  std::atomic<std::int64_t> next{0};
  std::mutex guard;
  std::exception_ptr failure;
  std::int64_t failed = std::numeric_limits<std::int64_t>::max();

  auto work = [&](int worker) {
    for (;;) {
      std::int64_t const task = next.fetch_add(1);
      if (task >= tasks) return;
      try {
        body(task, worker);
      } catch (...) {
        std::lock_guard const lock(guard);
        if (task < failed) {
          failed = task;
          failure = std::current_exception();
        }
        next.store(tasks);
      }
    }
  };
  {
    std::vector<std::jthread> helpers;  // joined at the closing brace
    for (int worker = 1; worker < std::min<std::int64_t>(threads, tasks); ++worker) {
      try {
        helpers.emplace_back(work, worker);
      } catch (std::system_error const&) {
        break;  // no more threads to be had: the ones that run do all the tasks
      }
    }
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

/// The threads that share a computation on the host, and the flag that cancels it. An int converts
/// to so many threads.
struct Workers {
  int threads = 0;  ///< 0: see thread_count()
  CancelFlag cancel{};

  Workers() = default;
  Workers(int n, CancelFlag flag = {}) : threads(n), cancel(flag) {}
};

/// Calls body(begin, end) for consecutive ranges of at most `grain` that cover [0, n).
template <class Body>
void parallel_ranges(int threads, std::int64_t n, std::int64_t grain, Body const& body) {
  parallel_tasks(threads, (n + grain - 1) / grain, [&](std::int64_t task, int) {
    body(task * grain, std::min(n, (task + 1) * grain));
  });
}
/// The same by `workers`. Throws Cancelled between two ranges.
template <class Body>
void parallel_ranges(Workers const& workers, std::int64_t n, std::int64_t grain, Body const& body) {
  parallel_ranges(thread_count(workers.threads), n, grain,
                  [&](std::int64_t begin, std::int64_t end) {
                    workers.cancel.check();
                    body(begin, end);
                  });
}

}  // namespace tcsolve
