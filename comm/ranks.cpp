// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/ranks.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tcsolve {

namespace {

/// FNV-1a over words (Fowler, Noll, Vo).
std::uint64_t with(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  return hash ^ hash >> 32;  // the product leaves high bits out of low ones
}
std::uint64_t bits_of(double number) {
  std::uint64_t word = 0;
  std::memcpy(&word, &number, sizeof word);
  return word;
}

}  // namespace

Ranks::Ranks() {
  char const* const word = std::getenv("TCSOLVE_CHECK_RANKS");
  checks_ = word != nullptr && std::strcmp(word, "1") == 0;
}

void Ranks::require_alike(std::int64_t count) {
  std::uint64_t const hash = with(hash_, static_cast<std::uint64_t>(count));
  double mine = 0;  // the bits go through, whatever they would be as a number
  std::memcpy(&mine, &hash, sizeof mine);
  std::vector<double> all(static_cast<std::size_t>(rank_count()));
  gather_all(&mine, 1, all.data());
  for (std::size_t r = 1; r < all.size(); ++r)
    if (bits_of(all[r]) != bits_of(all[0])) {
      settle();
      throw RankFailed(static_cast<int>(r),
                       cat("of ", gathered_,
                           " numbers that ranks have gathered it has others than rank 0, or it "
                           "goes another way (TCSOLVE_CHECK_RANKS)"));
    }
}

void Ranks::gather(double const* mine, std::int64_t count, double* all) {
  if (alone_) {
    std::copy_n(mine, count, all);
    return;
  }
  if (checks_) require_alike(count);
  gather_all(mine, count, all);
  if (!checks_) return;
  std::int64_t const numbers = count * rank_count();
  for (std::int64_t k = 0; k < numbers; ++k) hash_ = with(hash_, bits_of(all[k]));
  gathered_ += numbers;
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
