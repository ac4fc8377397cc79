// SPDX-License-Identifier: Apache-2.0
/// What `ulimit` leaves is what a run may take: said before it begins, and in one sentence with
/// advice where it is not enough.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

class MemoryLimits : public Program {
 protected:
  /// Under a limit of `kib` on the address space.
  Outcome limited(int kib, Arguments const& arguments) {
    std::string line;
    for (std::string const& word : command(arguments)) line += " '" + word + "'";
    return run({"/bin/sh", "-c", "ulimit -v " + std::to_string(kib) + "; exec" + line});
  }
  bool runs_at_all(int kib) { return limited(kib, {"--version"}).code == 0; }
};

TEST_F(MemoryLimits, AreWhatIsAvailable) {
  constexpr int kib = 700000;
  if (!runs_at_all(kib)) GTEST_SKIP() << "the program needs more address space as it is built here";
  write_text(folder_ / "my.yaml",
             "problem: {generator: {type: poisson27, n: 150}}\nsolver: {type: cg}\n"
             "backend: host\n");
  Outcome const o = limited(kib, {"my.yaml"});
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "the run needs about 1.51 GiB of host memory")) << o.err;
  EXPECT_TRUE(has(o.err, "values: fp32")) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "out_of_memory");
  std::string const memory = o.out.substr(o.out.find("memory: host"));
  EXPECT_TRUE(has(memory, " MiB available")) << "at most 700,000 KiB: " << o.out;
  Outcome const small = limited(kib, {"my.yaml", "--set", "problem.generator.n=10"});
  EXPECT_EQ(small.code, 0) << small.out << small.err;
}

}  // namespace
}  // namespace tcsolve::cli
