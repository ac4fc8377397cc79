// SPDX-License-Identifier: Apache-2.0
/// Each command says which options it uses; another one is a usage error and nothing is done.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

class Options : public Program {
 protected:
  void SetUp() override {
    write_text(folder_ / "A.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n");
  }
};

TEST_F(Options, ThatACommandDoesNotUseAreErrors) {
  std::vector<Arguments> const wrong{{"--solver", "nope", "init", "A.mtx"},
                                     {"--solver", "nope", "advise", "A.mtx"},
                                     {"--preconditioner", "jacobi", "advise", "A.mtx"},
                                     {"advise", "A.mtx", "--set", "nonsense=2"},
                                     {"advise", "A.mtx", "--dry-run"},
                                     {"advise", "A.mtx", "--repeat", "3"},
                                     {"--backend", "cuda", "info", "A.mtx"},
                                     {"--dry-run", "info", "A.mtx"},
                                     {"-q", "info", "A.mtx"},
                                     {"-o", "zzz", "init", "A.mtx"},
                                     {"--rtol", "1e-3", "generate", "poisson7", "-o", "B.mtx"},
                                     {"calibrate", "rates.yaml", "--set", "n=1"},
                                     {"calibrate", "rates.yaml", "--time-limit", "1"},
                                     {"--list", "--backend", "host"},
                                     {"--explain", "solver.cg", "--set", "a=1"}};
  for (Arguments const& a : wrong) {
    Outcome const o = tcsolve(a);
    EXPECT_EQ(o.code, 1) << testing::PrintToString(a) << o.out << o.err;
    EXPECT_TRUE(has(o.err, "does not use -")) << testing::PrintToString(a) << o.err;
    EXPECT_EQ(o.out, "") << testing::PrintToString(a);
  }
  EXPECT_FALSE(fs::exists(folder_ / "zzz"));
  EXPECT_FALSE(fs::exists(folder_ / "B.mtx"));
  EXPECT_FALSE(fs::exists(folder_ / "rates.yaml"));
  Outcome const o = tcsolve({"--solver", "cg", "advise", "A.mtx"});
  EXPECT_TRUE(has(o.err,
                  "'advise' does not use --solver; of the program's options it takes "
                  "--backend, --rtol, --time-limit"))
      << o.err;
}

TEST_F(Options, ThatACommandUsesAreNot) {
  for (Arguments const& a : std::vector<Arguments>{
           {"--backend", "host", "--rtol", "1e-4", "advise", "A.mtx"},
           {"advise", "A.mtx", "ones", "--backend", "host", "--quiet", "--time-limit", "20"},
           {"--set", "n=3", "generate", "poisson7", "-o", "B.mtx"},
           {"A.mtx", "ones", "--backend", "host", "--quiet", "--time-limit", "60"}})
    EXPECT_EQ(tcsolve(a).code, 0) << testing::PrintToString(a);
}

/// 0 is a tolerance that was given.
TEST_F(Options, AnRtolOfZeroIsZero) {
  Outcome const o = tcsolve({"advise", "A.mtx", "--backend", "host", "--rtol", "0", "--json"});
  auto const root = nlohmann::json::parse(o.out);
  EXPECT_EQ(root["rtol"], 0);
  EXPECT_EQ(root["solved"], o.code == 0);
}

}  // namespace
}  // namespace tcsolve::cli
