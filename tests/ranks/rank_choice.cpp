// SPDX-License-Identifier: Apache-2.0
/// `ranks: {count: auto, devices: ..}`: who is asked to solve, and on which GPU.
#include "tests/cli/program.hpp"

#include <tcsolve/app/run/rank_choice.hpp>
#include <tcsolve/core/device.hpp>

namespace tcsolve::cli {
namespace {

int chosen(Index rows, double entries_in_a_row, int gpus) {
  ProblemSize size;
  size.rows = size.cols = rows;
  size.entries = static_cast<Offset>(entries_in_a_row * rows);
  RankChoice const choice = ranks_on_devices(size, gpus);
  EXPECT_TRUE(has(choice.why, "ranks: " + std::to_string(choice.count) + " of " +
                                  std::to_string(gpus) + " GPUs"))
      << choice.why;
  return choice.count;
}

/// The systems of docs/results/two-gpus.md, of which two GPUs were faster for the last four.
TEST(RankChoice, TakesTwoGpusWhereTwoWereMeasuredFaster) {
  EXPECT_EQ(chosen(32768, 27, 2), 1);
  EXPECT_EQ(chosen(262144, 27, 2), 1);
  EXPECT_EQ(chosen(512000, 7, 2), 1);
  EXPECT_EQ(chosen(729000, 7, 2), 1);
  EXPECT_EQ(chosen(314432, 27, 2), 1);
  EXPECT_EQ(chosen(1000000, 7, 2), 2);
  EXPECT_EQ(chosen(884736, 27, 2), 2);
  EXPECT_EQ(chosen(526848, 78, 2), 2);
  EXPECT_EQ(chosen(4096000, 7, 2), 2);
}

TEST(RankChoice, NeverTakesMoreThanThereAre) {
  for (int const gpus : {1, 2, 4, 8}) EXPECT_EQ(chosen(100'000'000, 27, gpus), gpus);
  EXPECT_EQ(chosen(1, 1, 8), 1);
  EXPECT_EQ(chosen(884736, 27, 1), 1);
  // More of them gain less and less.
  int last = 1;
  for (Index const rows : {10'000, 1'000'000, 3'000'000, 30'000'000}) {
    int const now = chosen(rows, 27, 8);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 8);
}

TEST(RankChoice, OnTheHostThreadsDoIt) {
  RankChoice const choice = ranks_on_host(2);
  EXPECT_EQ(choice.count, 1);
  EXPECT_TRUE(has(choice.why, "2 threads")) << choice.why;
}

class ChosenRanks : public Program {};

constexpr char const* system_of_8 =
    "problem: {generator: {type: poisson7, n: 8}}\nsolver: {type: cg}\n"
    "preconditioner: {type: jacobi}\n";

TEST_F(ChosenRanks, AutoIsOneRankOnTheHostAndSaysSo) {
  for (Arguments const& how : {Arguments{"--ranks", "auto"}, {"--set", "ranks.count=auto"}}) {
    Arguments all = how;
    all.insert(all.end(), {"--backend", "host"});
    Outcome const o = solve(system_of_8, all);
    ASSERT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_TRUE(has(o.out + o.err, "ranks: 1 on the host, with 2 threads")) << o.out << o.err;
    EXPECT_TRUE(result()["ranks"].is_null());
    all.push_back("--dry-run");
    Outcome const dry = solve(system_of_8, all);
    EXPECT_EQ(dry.code, 0) << dry.err;
    EXPECT_TRUE(has(dry.out + dry.err, "ranks: 1 on the host")) << dry.out << dry.err;
  }
  // Who names a number has it.
  Outcome const two = solve(system_of_8, {"--ranks", "2", "--backend", "host"});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(result()["ranks"].size(), 2u);
  EXPECT_FALSE(has(two.out + two.err, "ranks: 1")) << two.out << two.err;
}

TEST_F(ChosenRanks, WhatIsNoNumberOfRanksIsRefused) {
  for (std::string const bad : {"many", "65", "-1", "2.5", "1e1"}) {
    Outcome const o = solve(system_of_8, {"--set", "ranks.count=" + bad});
    EXPECT_EQ(o.code, 1) << o.out;
    EXPECT_TRUE(has(o.err, "'count' = " + bad + " is neither auto nor a number")) << o.err;
  }
  EXPECT_EQ(solve(system_of_8, {"--ranks", "many"}).code, 1);
}

TEST_F(ChosenRanks, DevicesAreNamedOnceForEachRank) {
  auto const refused = [&](std::string const& ranks, int code, std::string const& said,
                           Arguments const& more = {}) {
    Outcome const o = solve(system_of_8 + ("ranks: " + ranks + "\n"), more);
    EXPECT_EQ(o.code, code) << o.out << o.err;
    EXPECT_TRUE(has(o.err, said)) << o.err;
  };
  refused("{count: 2, devices: [0, 1, 2]}", 1, "'devices' names 3 GPUs for 2 ranks");
  for (std::string const transport : {"auto", "peer", "nccl"})
    refused("{count: 2, devices: [1, 1], transport: " + transport + "}", 1,
            "'devices' names GPU 1 twice");
  refused("{count: 2, devices: [0, 1]}", 1, "'backend: host' takes none", {"--backend", "host"});
  refused("{count: 1, devices: [0]}", 1, "'backend: host' takes none", {"--backend", "host"});
  for (std::string const transport : {"peer", "nccl"})
    refused("{count: 2, transport: " + transport + "}", 1,
            "'ranks.transport: " + transport + "' joins GPUs, and 'backend: host' takes none",
            {"--backend", "host"});
  refused("{count: 2, transport: tcp}", 1, "transport");
  // One that there is not, and no rank computes on the host instead.
  refused("{count: 2, devices: [998, 999]}", 5, "'ranks.devices' over 2 ranks");
  refused("{count: 2, devices: [999, 999], transport: mpi}", 5, "'ranks.devices' over 2 ranks");
  // The words of a build without CUDA are others than those of a machine without the GPU.
  refused("{count: 1, devices: [999]}", 5, "cuda");
  Outcome const o =
      solve(system_of_8 + std::string("ranks: {count: 2, devices: auto, transport: mpi}\n"),
            {"--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
