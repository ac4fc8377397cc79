// SPDX-License-Identifier: Apache-2.0
/// What a library does in one call cannot be ended. It runs in a thread of its own, which the
/// caller waits for, and leaves behind when he is asked to end.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <tcsolve/core/cancel.hpp>

namespace tcsolve {

/// Of this process: calls that nobody waits for any more.
int left_behind();

namespace detail {
/// Counts a call as left behind from abandon() to its end.
class Abandoned {
 public:
  void abandon();
  ~Abandoned();

 private:
  std::atomic<bool> counted_{false};
};
/// Blocks all signals in the threads that are started while it lives: they are for the caller's.
class NoSignals {
 public:
  NoSignals();
  ~NoSignals();
  NoSignals(NoSignals const&) = delete;
  NoSignals& operator=(NoSignals const&) = delete;

 private:
  alignas(16) unsigned char before_[128];
};
}  // namespace detail

/// The flag for a call that goes over so many entries a few times: none where that takes less than
/// a thread does.
inline CancelFlag for_entries(CancelFlag cancel, std::int64_t entries) {
  constexpr std::int64_t few = 4096;
  return entries < few ? CancelFlag() : cancel;
}

/// f(), which owns what it works on: nothing that it refers to may belong to the caller. Where
/// `cancel` is watched it runs in a thread of its own. When that is asked to end, its Cancelled or
/// OutOfTime is thrown at once; f works on until it ends by itself, and what it owns and made is
/// freed then. Otherwise returns or throws what f does. Cost: some 50 us for the thread.
template <class F>
std::invoke_result_t<F&> leaving_behind(CancelFlag cancel, F f) {
  using Result = std::invoke_result_t<F&>;
  cancel.check();
  if (!cancel.watched()) return f();
  constexpr std::chrono::milliseconds between_looks{10};
  auto const abandoned = std::make_shared<detail::Abandoned>();
  auto const task =
      std::make_shared<std::packaged_task<Result()>>([f = std::move(f), abandoned]() mutable {
        F own = std::move(f);  // ends with the call, not with the last who waits for its result
        return own();
      });
  std::future<Result> result = task->get_future();
  try {
    detail::NoSignals const none;
    std::thread([task] { (*task)(); }).detach();
  } catch (std::system_error const&) {  // no more threads to be had
    (*task)();
    return result.get();
  }
  try {
    while (result.wait_for(between_looks) != std::future_status::ready) cancel.check();
  } catch (...) {
    abandoned->abandon();
    throw;
  }
  return result.get();
}

}  // namespace tcsolve
