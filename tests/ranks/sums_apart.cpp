// SPDX-License-Identifier: Apache-2.0
/// What ranks of devices leave for each other where an operation is cut in two
/// (core/sums_apart.hpp), walked by the host.
#include <tcsolve/core/stop.hpp>
#include <tcsolve/core/sums_apart.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

/// The two halves of an operation with `count` sums around an all-gather of `gathered`.
struct Halves {
  Halves(Ranks& all, int gathered)
      : ranks(all),
        count(gathered),
        mine(SumsApart::head + SumsApart::room, 0.0),
        everyone(mine.size() * static_cast<std::size_t>(all.ranks())),
        apart{mine.data(), everyone.data(), all.ranks()} {}
  void gather() { ranks.gather(mine.data(), SumsApart::head + count, everyone.data()); }
  template <class V>
  double total(int k) const {
    double sum = 0;
    add_parts<V>([&](int r, int) { return apart.of(r, k, count); }, 0, apart.ranks, 1, &sum);
    return sum;
  }

  Ranks& ranks;
  int count;
  std::vector<double> mine, everyone;
  SumsApart apart;
};

double part(int rank, int k) { return (k + 1) * 0.1 / (rank + 3) + 1e15 * ((rank + k) % 2); }

TEST(SumsApartTest, TotalsHaveTheBitsOfSumsInTheMiddle) {
  constexpr int count = 5;
  run_threads(3, [](Ranks& ranks) {
    Halves halves(ranks, count);
    EXPECT_TRUE(halves.apart.cut());
    EXPECT_FALSE(SumsApart{}.cut());
    std::vector<double> sums;
    for (int k = 0; k < count; ++k) {
      sums.push_back(part(ranks.rank(), k));
      halves.apart.leave(k, sums.back());
    }
    halves.apart.seal(0);
    halves.gather();
    ASSERT_TRUE(halves.apart.left());
    // As an operation of the host, which asks in its middle.
    std::vector<double> together(count, 0.0), largest(count, 0.0);
    host::end_sums<Add>({1, &ranks}, sums.data(), 1, count, together.data());
    host::end_sums<Largest>({1, &ranks}, sums.data(), 1, count, largest.data());
    for (int k = 0; k < count; ++k) {
      EXPECT_TRUE(same_bits(halves.total<Add>(k), together[static_cast<std::size_t>(k)]));
      EXPECT_TRUE(same_bits(halves.total<Largest>(k), largest[static_cast<std::size_t>(k)]));
    }
    halves.apart.end();
    EXPECT_FALSE(halves.apart.left());
  });
}

/// A stopped loop skips the first half: nothing is gone on with, and nobody waits.
TEST(SumsApartTest, WhoLeavesNothingHasNoSecondHalf) {
  run_threads(2, [](Ranks& ranks) {
    Halves halves(ranks, 1);
    halves.apart.leave(0, 3);
    halves.apart.seal(0);
    halves.gather();
    EXPECT_TRUE(halves.apart.left());
    halves.apart.end();
    halves.gather();  // of an operation that was skipped
    EXPECT_FALSE(halves.apart.left());
  });
}

/// Fewer sums than were gathered lie where all ranks look for them.
TEST(SumsApartTest, MoreMayBeGatheredThanThereAre) {
  run_threads(2, [](Ranks& ranks) {
    Halves halves(ranks, 7);
    for (int k = 0; k < 3; ++k) halves.apart.leave(k, 10 * ranks.rank() + k);
    halves.apart.seal(0);
    halves.gather();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(halves.total<Add>(k), 10 + 2 * k);
  });
}

/// What the host of one rank wants all learn of, with the sums, a request before a limit of time.
TEST(SumsApartTest, TheWordOfOneIsThatOfAll) {
  run_threads(3, [](Ranks& ranks) {
    Halves halves(ranks, 2);
    auto const told = [&](std::int32_t word) {
      halves.apart.seal(word);
      halves.gather();
      return halves.apart.agreed(2);
    };
    auto const limit = static_cast<std::int32_t>(Stop::time_limit),
               request = static_cast<std::int32_t>(Stop::cancelled);
    EXPECT_EQ(told(0), 0);
    EXPECT_EQ(told(ranks.rank() == 1 ? limit : 0), limit);
    EXPECT_EQ(told(ranks.rank() == 1   ? limit
                   : ranks.rank() == 2 ? request
                                       : 0),
              std::max(limit, request));
  });
}

}  // namespace
}  // namespace tcsolve::test
