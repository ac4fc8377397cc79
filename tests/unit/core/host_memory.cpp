// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/host_memory.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;
constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();

class Cgroups : public testing::Test {
 protected:
  void write(fs::path const& name, std::string const& text) {
    fs::create_directories((folder_ / name).parent_path());
    write_text(folder_ / name, text);
  }
  std::int64_t available(std::string const& table) {
    return available_in_cgroups(write_text(folder_ / "table", table), folder_ / "fs");
  }
  TemporaryFolder folder_;
};

TEST_F(Cgroups, SecondVersion) {
  EXPECT_EQ(available("0::/\n"), unlimited);
  write("fs/memory.max", "max\n");
  write("fs/memory.current", "10\n");
  EXPECT_EQ(available("0::/\n"), unlimited);
  write("fs/memory.max", "1000\n");
  write("fs/memory.current", "400\n");
  EXPECT_EQ(available("0::/\n"), 600);
  write("fs/memory.stat", "anon 300\nactive_file 30\ninactive_file 70\n");
  EXPECT_EQ(available("0::/\n"), 700);
}

/// The least of the cgroup of the process and those around it.
TEST_F(Cgroups, Nested) {
  write("fs/slurm/memory.max", "5000\n");
  write("fs/slurm/memory.current", "4500\n");
  write("fs/slurm/job/step/memory.max", "2000\n");
  write("fs/slurm/job/step/memory.current", "100\n");
  EXPECT_EQ(available("0::/slurm/job/step\n"), 500);
  EXPECT_EQ(available("0::/slurm/job\n"), 500);
  EXPECT_EQ(available("0::/other\n"), unlimited);
  EXPECT_EQ(available("0::/../../outside\n"), unlimited);
}

TEST_F(Cgroups, FirstVersion) {
  write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("fs/memory/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(available("4:cpu:/job\n7:memory:/job\n"), unlimited);
  write("fs/memory/job/memory.limit_in_bytes", "3000\n");
  write("fs/memory/job/memory.usage_in_bytes", "2000\n");
  write("fs/memory/job/memory.stat", "active_file 1\ntotal_active_file 250\n");
  EXPECT_EQ(available("4:cpu:/job\n7:memory:/job\n"), 1250);
  EXPECT_EQ(available("4:cpu:/job\n7:hugetlb,memory:/job/deeper\n"), 1250);
  EXPECT_EQ(available("4:cpu:/job\n"), unlimited);
}

TEST(HostMemory, LimitsOfTheProcessCount) {
  std::int64_t whole = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  // It stays open: its buffer is part of the process that it tells of.
  std::ifstream statm("/proc/self/statm");
  statm >> whole >> resident >> shared >> text >> library >> data;
  std::int64_t const page = ::sysconf(_SC_PAGESIZE), left = std::int64_t{64} << 20;
  auto const available_under = [&](auto resource, std::int64_t used, std::string& message) {
    rlimit before{};
    EXPECT_EQ(::getrlimit(resource, &before), 0);
    rlimit const limit{static_cast<rlim_t>(used + left), before.rlim_max};
    EXPECT_EQ(::setrlimit(resource, &limit), 0);
    std::int64_t const available = available_memory();
    message = message_of<MemoryError>([&] { require_memory(2 * left, 0, "it"); });
    EXPECT_EQ(::setrlimit(resource, &before), 0);
    return available;
  };
  std::string message;
  EXPECT_LE(available_under(RLIMIT_AS, whole * page, message), left);
  EXPECT_NE(message.find("under ulimit -v"), std::string::npos) << message;
  EXPECT_LE(available_under(RLIMIT_DATA, data * page, message), left);
  EXPECT_NE(message.find("under ulimit -d"), std::string::npos) << message;
}

}  // namespace
}  // namespace tcsolve::test
