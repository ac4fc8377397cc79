// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/ranks.hpp>

#include <algorithm>
#include <cstring>

namespace tcsolve {

void Ranks::gather(double const* mine, std::int64_t count, double* all) {
  if (alone_)
    std::copy_n(mine, count, all);
  else
    gather_all(mine, count, all);
}

void Ranks::lost() {
  fail("its device waited for another rank in vain");  // unless one has failed before
  gather_all(nullptr, 0, nullptr);
  throw RankFailed(rank(), "its device waited for another rank in vain");
}

void Ranks::busy(bool on) noexcept {
  if (!on && busy_ == 0) return;
  busy_ += on ? 1 : -1;
  if (busy_ == (on ? 1 : 0)) tell_busy(on);
}

void Ranks::begin_exchange(std::span<Outgoing const> out, std::span<Incoming const> in) {
  begin(out, in);
}
void Ranks::end_exchange() { end(); }

void OneRank::gather_all(double const* mine, std::int64_t count, double* all) {
  std::copy_n(mine, count, all);
}

Ranks* ranks_of(Context const& ctx) { return dynamic_cast<Ranks*>(&ctx.communicator()); }

Ranks& all_ranks(Context const& ctx) {
  static OneRank nobody_else;  // has no state
  if (Ranks* const ranks = ranks_of(ctx)) return *ranks;
  require_one_rank(ctx, "messages between ranks, which this communicator has not,");
  return nobody_else;
}

std::vector<double> gather(Ranks& ranks, double mine) {
  std::vector<double> all(static_cast<std::size_t>(ranks.ranks()));
  ranks.gather(&mine, 1, all.data());
  return all;
}

double least(Context const& ctx, double mine) {
  Ranks* const ranks = ranks_of(ctx);
  return ranks == nullptr ? mine : std::ranges::min(gather(*ranks, mine));
}

std::vector<std::int64_t> gather(Ranks& ranks, std::int64_t mine) {
  // The bits go through, whatever they would be as a number.
  double word = 0;
  std::memcpy(&word, &mine, sizeof word);
  std::vector<double> const words = gather(ranks, word);
  std::vector<std::int64_t> all(words.size());
  std::memcpy(all.data(), words.data(), words.size() * sizeof word);
  return all;
}

std::vector<std::string> gather(Ranks& ranks, std::string const& mine) {
  std::vector<std::int64_t> const sizes = gather(ranks, static_cast<std::int64_t>(mine.size()));
  auto const words = static_cast<std::size_t>((*std::ranges::max_element(sizes) + 7) / 8);
  std::vector<double> text(words), all(words * sizes.size());
  if (!mine.empty()) std::memcpy(text.data(), mine.data(), mine.size());
  ranks.gather(text.data(), static_cast<std::int64_t>(words), all.data());
  std::vector<std::string> out;
  for (std::size_t r = 0; r < sizes.size(); ++r)
    out.emplace_back(reinterpret_cast<char const*>(all.data() + r * words),
                     static_cast<std::size_t>(sizes[r]));
  return out;
}

void barrier(Ranks& ranks) { ranks.gather(nullptr, 0, nullptr); }

std::vector<double> detail::message_sizes(Ranks& ranks, std::vector<double> const& mine) {
  auto const count = static_cast<std::size_t>(ranks.ranks());
  std::vector<double> all(count * count);
  ranks.gather(mine.data(), static_cast<std::int64_t>(count), all.data());
  return all;
}

}  // namespace tcsolve
