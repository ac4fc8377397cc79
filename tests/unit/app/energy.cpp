// SPDX-License-Identifier: Apache-2.0
/// Joules by RAPL, from a folder that looks like Linux's.
#include <tcsolve/app/energy.hpp>

#include <gmock/gmock.h>

#include <unistd.h>

#include <cmath>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;

class Energy : public testing::Test {
 protected:
  /// A counter as the kernel shows it.
  void zone(std::string const& folder, std::string const& name, std::string const& microjoules,
            std::string const& range = "262143328850") {
    fs::path const at = folder_ / folder;
    fs::create_directories(at);
    write_text(at / "name", name + "\n");
    write_text(at / "energy_uj", microjoules + "\n");
    write_text(at / "max_energy_range_uj", range + "\n");
  }
  void counts(std::string const& folder, std::string const& microjoules) {
    write_text(folder_ / folder / "energy_uj", microjoules + "\n");
  }
  TemporaryFolder folder_;
  Context ctx_{Backend::host};
};

/// Packages and memory: cores are within a package, and psys is all of them again.
TEST_F(Energy, AddsWhatDoesNotOverlap) {
  zone("intel-rapl:0", "package-0", "1000000");
  zone("intel-rapl:0:0", "core", "7");
  zone("intel-rapl:0:1", "dram", "500");
  zone("intel-rapl:1", "package-1", "2000000");
  zone("intel-rapl:2", "psys", "9");
  zone("intel-rapl-mmio:0", "package-0", "3");  // the first one by another way
  EnergyMeter meter(ctx_, folder_.path());
  meter.start();
  counts("intel-rapl:0", "4000000");
  counts("intel-rapl:0:0", "4000000");
  counts("intel-rapl:0:1", "1000500");
  counts("intel-rapl:1", "2500000");
  counts("intel-rapl:2", "9000000");
  Joules const once = meter.per_solve(2, 1), each = meter.per_solve(2, 3);
  EXPECT_DOUBLE_EQ(once.value, 4.5);
  EXPECT_DOUBLE_EQ(each.value, 1.5);
  EXPECT_EQ(once.note, "RAPL: package-0, dram, package-1");
}

TEST_F(Energy, FollowsACounterThatGoesRound) {
  zone("intel-rapl:0", "package-0", "199000000", "200000000");
  EnergyMeter meter(ctx_, folder_.path());
  meter.start();
  counts("intel-rapl:0", "3000000");
  EXPECT_DOUBLE_EQ(meter.per_solve(0.1, 1).value, 4);
  // In a second a kilowatt could have gone round it five times.
  Joules const lost = meter.per_solve(1, 1);
  EXPECT_TRUE(std::isnan(lost.value));
  EXPECT_THAT(lost.note, testing::HasSubstr("gone round more than once"));
}

TEST_F(Energy, SaysWhyThereIsNone) {
  auto const why = [&](double seconds, std::size_t solves) {
    EnergyMeter meter(ctx_, folder_.path());
    meter.start();
    Joules const j = meter.per_solve(seconds, solves);
    EXPECT_TRUE(std::isnan(j.value));
    return j.note;
  };
  EXPECT_THAT(why(1, 1), testing::HasSubstr("no RAPL counters below " + folder_.path().string()));
  zone("intel-rapl:0", "package-0", "1000000");
  EXPECT_EQ(why(1, 0), "nothing was timed");
  EXPECT_THAT(why(0.01, 2), testing::HasSubstr("0.05 s; --repeat 10"));
  counts("intel-rapl:0", "no number");
  EXPECT_EQ(why(1, 1), "a RAPL counter holds no number");
  fs::permissions(folder_ / "intel-rapl:0/energy_uj", fs::perms::none);
  if (::access((folder_ / "intel-rapl:0/energy_uj").c_str(), R_OK) != 0)  // root may all the same
    EXPECT_THAT(why(1, 1), testing::HasSubstr("cannot be read; only root may"));
}

TEST_F(Energy, GpuTellsJoulesOrWhyNot) {
  std::string absent;
  if (!cuda::available(absent)) GTEST_SKIP() << absent;
  Context ctx(Backend::cuda);
  EnergyMeter meter(ctx);
  meter.start();
  Joules const j = meter.per_solve(1, 1);
  EXPECT_FALSE(j.note.empty());
  if (!std::isnan(j.value)) EXPECT_GE(j.value, 0);
  EXPECT_THAT(meter.per_solve(0.01, 1).note, testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace tcsolve::test
