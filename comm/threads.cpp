// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/threads.hpp>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <tcsolve/comm/board.hpp>

namespace tcsolve {
namespace {

std::string words_of(std::exception_ptr const& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (std::exception const& e) { return e.what(); } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

void run_threads(int count, std::function<void(Ranks&)> const& f, double timeout) {
  Board board(count, timeout);
  std::mutex mutex;
  std::exception_ptr first;
  auto const run = [&](int rank) {
    BoardRank own(board, rank);
    try {
      f(own);
    } catch (...) {
      std::exception_ptr const thrown = std::current_exception();
      {
        // Before the others hear of it, so that theirs do not come first.
        std::lock_guard const lock(mutex);
        if (!first) first = thrown;
      }
      own.fail(words_of(thrown));
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) threads.emplace_back(run, rank);
  for (std::thread& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tcsolve
