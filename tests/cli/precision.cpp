// SPDX-License-Identifier: Apache-2.0
/// What result.json tells of an A that is stored in fewer bits.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

class PrecisionTold : public Program {
 protected:
  nlohmann::json rounding(std::string const& config) {
    Outcome const o = solve(config);
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    return result()["rounding"];
  }
};

/// 2 on the diagonal and -1 beside it, rows and columns times 3e6, 1, 1e-6, 1: three entries are
/// beyond FP16, two of the third row and column are below its normal range, as its diagonal is.
TEST_F(PrecisionTold, IsHowAWasScaledAndWhatThatChanged) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 18e12\n2 1 -3e6\n"
             "2 2 2\n3 2 -1e-6\n3 3 2e-12\n4 3 -1e-6\n4 4 2\n");
  std::string const config =
      "problem: {matrix: A.mtx}\nsolver: {type: cg, rtol: 1.0e-10}\n"
      "preconditioner: {type: jacobi}\n";
  nlohmann::json const told = rounding(config + "operator: {values: fp16}\n");
  EXPECT_EQ(told["scaled"], "symmetric");
  EXPECT_EQ(told["overflow"], 3);
  EXPECT_EQ(told["underflow"], 5);
  EXPECT_EQ(told["zeros"], 0);
  EXPECT_GT(told["row_sum_change"], 0);
  EXPECT_LT(told["row_sum_change"], 0x1p-11);
  EXPECT_TRUE(rounding(config).is_null()) << "nothing is rounded";
}

TEST_F(PrecisionTold, IsThatNothingChangesWhereEntriesAreExact) {
  nlohmann::json const told = rounding(
      "problem: {generator: {type: poisson7, n: 6}}\nsolver: {type: cg}\n"
      "operator: {values: fp16}\n");
  EXPECT_EQ(told["scaled"], "nothing");
  EXPECT_EQ(told["overflow"], 0);
  EXPECT_EQ(told["underflow"], 0);
  EXPECT_EQ(told["row_sum_change"], 0);
}

}  // namespace
}  // namespace tcsolve::cli
