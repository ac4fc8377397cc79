// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/threads.hpp>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <tcsolve/comm/board.hpp>
#include <tcsolve/comm/together.hpp>

namespace tcsolve {
void run_threads(int count, std::function<void(Ranks&)> const& f, double timeout) {
  Board board(count, timeout);
  std::mutex mutex;
  std::exception_ptr first;
  auto const run = [&](int rank) {
    BoardRank own(board, rank);
    // The first is kept before the others hear of it, so that theirs do not come first.
    auto const keep = [&] {
      std::lock_guard const lock(mutex);
      if (!first) first = std::current_exception();
    };
    try {
      f(own);
    } catch (std::exception const& e) {
      keep();
      own.fail(e.what(), kind_of(e));
    } catch (...) {
      keep();
      own.fail("an unknown exception");
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) threads.emplace_back(run, rank);
  for (std::thread& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tcsolve
