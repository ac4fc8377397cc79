// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/host/workers.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tcsolve::host {

namespace {

constexpr int most_threads = 1024;
constexpr int most_loops = 32;          // open at a time; an owner beyond them works alone
constexpr int looks = 1000;             // before a thread sleeps: 15 to 50 us
constexpr std::int64_t stretches = 16;  // of a share
constexpr std::size_t cache_line = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

thread_local bool inside_a_loop = false;

std::int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
std::int64_t now() { return nanoseconds(CLOCK_MONOTONIC); }

/// How long this thread has had no processor since it was made.
class Absence {
 public:
  std::int64_t so_far() const {
    std::int64_t const wall = now() - wall_;
    return wall < short_stay ? 0 : wall - (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - processor_);
  }

 private:
  static constexpr std::int64_t short_stay = 100'000;
  std::int64_t wall_ = now(), processor_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
};

class Loop {
 public:
  /// Makes the calling thread the owner of the loop, unless another thread owns it.
  bool acquire() {
    std::uint32_t none = 0;
    return state_.load(std::memory_order_relaxed) == 0 &&
           state_.compare_exchange_strong(none, owned, std::memory_order_acquire);
  }
  void open(int threads, std::int64_t begin, std::int64_t end, Stretch stretch) {
    if (room_ < threads) {
      shares_ = std::make_unique<Share[]>(std::size_t(threads));
      room_ = threads;
    }
    threads_ = threads;
    stretch_ = stretch;
    failed_.store(false, std::memory_order_relaxed);
    absent_.store(0, std::memory_order_relaxed);
    std::int64_t const share = (end - begin + threads - 1) / threads;
    grain_ = std::max<std::int64_t>(1, share / stretches);
    for (int k = 0; k < threads; ++k) {
      shares_[k].next.store(std::min(end, begin + k * share), std::memory_order_relaxed);
      shares_[k].end = std::min(end, begin + (k + 1) * share);
    }
    state_.store(owned | opened | std::uint32_t(threads) << limit_shift, std::memory_order_seq_cst);
  }
  /// Nobody joins any more.
  void close() { state_.fetch_and(~opened, std::memory_order_relaxed); }
  /// Waits until the helpers have left; how many had to be slept for.
  int wait() {
    for (int look = 0; look < looks; ++look) {
      if (inside(state_.load(std::memory_order_acquire)) == 0) return 0;
      pause();
    }
    int late = 0;
    for (;;) {
      std::uint32_t const now = state_.load(std::memory_order_acquire);
      if (inside(now) == 0) return late;
      late = std::max(late, inside(now));
      state_.wait(now, std::memory_order_acquire);
    }
  }
  /// Gives the loop back; throws what a stretch has thrown.
  void release() {
    std::exception_ptr const failure =
        failed_.load(std::memory_order_relaxed) ? std::exchange(failure_, nullptr) : nullptr;
    state_.store(0, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
  }

  bool join(int worker) {
    std::uint32_t now = state_.load(std::memory_order_relaxed);
    while ((now & opened) != 0 && worker < limit(now))
      if (state_.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) return true;
    return false;
  }
  /// `absent`: how long the helper had no processor.
  void leave(std::int64_t absent) {
    if (absent > absent_.load(std::memory_order_relaxed))
      absent_.store(absent, std::memory_order_relaxed);
    std::uint32_t const before = state_.fetch_sub(1, std::memory_order_release);
    if (inside(before) == 1) state_.notify_one();
  }
  std::int64_t absent() const { return absent_.load(std::memory_order_relaxed); }
  /// Takes stretches, first of the thread's own share, until there is none.
  void work(int worker) {
    for (int k = 0; k < threads_; ++k) {
      Share& share = shares_[(worker + k) % threads_];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        std::int64_t const begin = share.next.fetch_add(grain_, std::memory_order_relaxed);
        if (begin >= share.end) break;
        if (failed_.load(std::memory_order_relaxed)) return;
        try {
          stretch_.call(stretch_.body, begin, std::min(begin + grain_, share.end));
        } catch (...) {
          if (!failed_.exchange(true)) failure_ = std::current_exception();
        }
      }
    }
  }
  void forget() { state_.store(0, std::memory_order_relaxed); }

 private:
  // The state: helpers inside, the most that may join and the owner, whether it is open and owned.
  static constexpr std::uint32_t inside_bits = 0x7ff, limit_shift = 11, limit_bits = 0x7ff;
  static constexpr std::uint32_t opened = 1u << 30, owned = 1u << 31;
  static int inside(std::uint32_t state) { return int(state & inside_bits); }
  static int limit(std::uint32_t state) { return int(state >> limit_shift & limit_bits); }
  struct alignas(cache_line) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  alignas(cache_line) std::atomic<std::uint32_t> state_{0};
  int threads_ = 0, room_ = 0;
  Stretch stretch_{};
  std::int64_t grain_ = 1;
  std::unique_ptr<Share[]> shares_;
  std::atomic<std::int64_t> absent_{0};  // the longest of a helper
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
};

/// How many threads a loop may take: all, unless other processes compete for the processors, as
/// seen from helpers that started late and from interruptions of the owning thread.
class Crowding {
 public:
  /// Asks now and then whether this thread, an owner, has lost its processor to another since.
  void look() {
    thread_local std::int64_t last = 0;
    thread_local long interrupted = 0;
    std::int64_t const at = now();
    if (at - last < between_looks) return;
    rusage use{};
    getrusage(RUSAGE_THREAD, &use);
    bool const lost = last != 0 && use.ru_nivcsw > interrupted;
    interrupted = use.ru_nivcsw;
    last = at;
    if (!lost) return;
    if (fewer_.load(std::memory_order_relaxed) == 0) return tell(1, time_slice);
    std::int64_t const until = at + 8 * time_slice;  // it goes on
    if (until > until_.load(std::memory_order_relaxed))
      until_.store(until, std::memory_order_relaxed);
  }
  int allowed(int threads) {
    int const fewer = fewer_.load(std::memory_order_relaxed);
    if (fewer == 0) return threads;
    if (now() >= until_.load(std::memory_order_relaxed)) {
      fewer_.store(0, std::memory_order_relaxed);
      return threads;
    }
    return std::max(1, threads - fewer);
  }
  /// `late` helpers have kept an owner waiting, one of them without a processor for `absent`. The
  /// pause is a multiple of that, longer where the last pause has not helped.
  void tell(int late, std::int64_t absent) {
    std::int64_t const lost = std::min<std::int64_t>(absent, 10'000'000);
    if (lost < 100'000) return;
    std::int64_t const ended = now();
    bool const again = ended - until_.load(std::memory_order_relaxed) < 8 * lost;
    int const factor = again ? std::min(128, 2 * factor_.load(std::memory_order_relaxed)) : 8;
    factor_.store(factor, std::memory_order_relaxed);
    until_.store(ended + factor * lost, std::memory_order_relaxed);
    fewer_.fetch_add(late, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t between_looks = 1'000'000, time_slice = 3'000'000;
  std::atomic<int> fewer_{0}, factor_{8};
  std::atomic<std::int64_t> until_{0};
};

class Workers {
 public:
  /// Never destroyed: its threads end with the process.
  static Workers& get() {
    static Workers& workers = *new Workers;
    return workers;
  }

  void run(int threads, std::int64_t begin, std::int64_t end, Stretch stretch) {
    crowding_.look();
    threads = crowding_.allowed(int(std::min<std::int64_t>({threads, most_threads, end - begin})));
    threads = std::min(threads, have(threads - 1) + 1);
    int const at = threads > 1 ? acquire() : -1;
    if (at < 0) return stretch.call(stretch.body, begin, end);
    Loop& loop = loops_[std::size_t(at)];
    loop.open(threads, begin, end, stretch);
    open_.fetch_or(1u << at, std::memory_order_seq_cst);
    for (int worker = 1; worker < threads; ++worker) wake(worker);
    inside_a_loop = true;
    loop.work(0);
    inside_a_loop = false;
    open_.fetch_and(~(1u << at), std::memory_order_relaxed);
    loop.close();
    if (int const late = loop.wait(); late > 0) crowding_.tell(late, loop.absent());
    loop.release();
  }

 private:
  Workers() {
    pthread_atfork(nullptr, nullptr, [] { get().forget(); });
  }
  /// In a forked child, which has no helper threads and no open loop.
  void forget() {
    count_.store(0);
    open_.store(0);
    for (Loop& loop : loops_) loop.forget();
    new (&starting_) std::mutex;
  }
  int acquire() {
    for (int at = 0; at < most_loops; ++at)
      if (loops_[std::size_t(at)].acquire()) return at;
    return -1;
  }
  /// The number of helpers, after an attempt to start as many as are `wanted`.
  int have(int wanted) {
    int const count = count_.load(std::memory_order_acquire);
    return wanted <= count ? count : start(wanted);
  }
  int start(int wanted) {
    std::lock_guard const one(starting_);
    int count = count_.load(std::memory_order_relaxed);
    // Signals are for the threads of the caller.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; count < wanted; ++count) {
        asleep_[std::size_t(count) + 1].value.store(0, std::memory_order_relaxed);
        std::thread([this, worker = count + 1] { serve(worker); }).detach();
      }
    } catch (std::system_error const&) {}  // no more threads to be had: these will do
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    count_.store(count, std::memory_order_release);
    return count;
  }
  void wake(int worker) {
    std::atomic<int>& asleep = asleep_[std::size_t(worker)].value;
    if (asleep.load(std::memory_order_seq_cst) == 0) return;
    asleep.store(0, std::memory_order_seq_cst);
    asleep.notify_one();
  }
  bool help(int worker) {
    bool helped = false;
    for (std::uint32_t open = open_.load(std::memory_order_seq_cst); open != 0; open &= open - 1) {
      Loop& loop = loops_[std::size_t(std::countr_zero(open))];
      if (!loop.join(worker)) continue;
      Absence const absence;
      loop.work(worker);
      loop.leave(absence.so_far());
      helped = true;
    }
    return helped;
  }
  [[noreturn]] void serve(int worker) {
    inside_a_loop = true;
    std::atomic<int>& asleep = asleep_[std::size_t(worker)].value;
    for (int look = 0;;) {
      if (help(worker)) {
        look = 0;
      } else if (++look < looks) {
        pause();
      } else {
        asleep.store(1, std::memory_order_seq_cst);
        if (help(worker))
          asleep.store(0, std::memory_order_relaxed);
        else
          asleep.wait(1);
        look = 0;
      }
    }
  }

  struct alignas(cache_line) Asleep {
    std::atomic<int> value{0};
  };
  alignas(cache_line) std::atomic<std::uint32_t> open_{0};  // a bit for each loop
  std::array<Loop, most_loops> loops_;
  std::array<Asleep, most_threads> asleep_;
  std::atomic<int> count_{0};  // of the helpers; they are numbered from 1
  std::mutex starting_;
  Crowding crowding_;
};

}  // namespace

void share_loop(int threads, std::int64_t begin, std::int64_t end, Stretch stretch) {
  if (begin >= end) return;
  if (threads < 2 || inside_a_loop) return stretch.call(stretch.body, begin, end);
  Workers::get().run(threads, begin, end, stretch);
}

}  // namespace tcsolve::host
