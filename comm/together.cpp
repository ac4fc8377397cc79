// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/together.hpp>

#include <map>
#include <mutex>
#include <vector>

namespace tcsolve {
namespace {

using Raise = void (*)(std::string const&);

template <class... E>
std::map<std::string, Raise> kinds_of() {
  return {{typeid(E).name(), [](std::string const& text) { throw E(text); }}...};
}

std::mutex guard;
std::map<std::string, Raise>& kinds() {
  static auto known = [] {
    auto all = kinds_of<ConfigError, Unsupported, MatrixError, ShapeError, SizeError, MemoryError,
                        DeviceError, BusyError, Error>();
    all[typeid(Cancelled).name()] = [](std::string const&) { throw Cancelled(); };
    all[typeid(OutOfTime).name()] = [](std::string const&) { throw OutOfTime(); };
    return all;
  }();
  return known;
}

}  // namespace

bool thrown_by_all(Context const& ctx) {
  Ranks* const ranks = ranks_of(ctx);
  return ranks == nullptr || ranks->ranks() == 1 || ranks->was_settled();
}

std::string kind_of(std::exception const& e) { return typeid(e).name(); }

bool detail::know_kind(std::string const& kind, Raise raise) {
  std::lock_guard const lock(guard);
  return kinds().emplace(kind, raise).second;
}

void require_one_build(Ranks& ranks, char const* revision) {
  std::vector<std::string> const all = gather(ranks, std::string(revision));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0]) {
      ranks.settle();
      throw ConfigError(cat("rank ", r, " is of tcsolve ", all[r], ", rank 0 of ", all[0],
                            "; start one build on all"));
    }
}

void rethrow_as(std::string const& kind, int rank, std::string const& text) {
  Raise raise = nullptr;
  {
    std::lock_guard const lock(guard);
    if (auto const at = kinds().find(kind); at != kinds().end()) raise = at->second;
  }
  if (raise != nullptr) raise(cat("rank ", rank, ": ", text));
  throw RankFailed(rank, text);
}

}  // namespace tcsolve
