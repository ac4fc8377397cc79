// SPDX-License-Identifier: Apache-2.0
/// `output.rows`: of x the rows that a file names, and what is refused of such a file.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_file.hpp>

namespace tcsolve::cli {
namespace {

class RowsOfX : public Program {
 protected:
  static constexpr char const* system =
      "problem: {generator: {type: poisson7, n: 4, coefficient: random}, rhs: {columns: 2}}\n"
      "solver: {type: cg, rtol: 1.0e-10}\n";
  Columns x(char const* name = "x.mtx") const {
    return read_columns_file(folder_ / "tcsolve-out" / name, "x");
  }
};

TEST_F(RowsOfX, AreTheseInThisOrder) {
  ASSERT_EQ(solve(std::string(system) + "output: {solution: true}\n").code, 0);
  Columns const all = x();
  ASSERT_EQ(all.rows, 64);
  write_text(folder_ / "rows.txt", "% the corners\n64\n1\n\n16\n");
  for (char const* const format : {"mtx", "npy"}) {
    Outcome const o =
        solve(std::string(system) + "output: {rows: rows.txt, solution_format: " + format + "}\n");
    ASSERT_EQ(o.code, 0) << o.out << o.err;
    Columns const some = x(format == std::string("mtx") ? "x.mtx" : "x.npy");
    ASSERT_EQ(some.rows, 3);
    ASSERT_EQ(some.cols, 2);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(
          std::vector(some.values.begin() + 3 * k, some.values.begin() + 3 * k + 3),
          (std::vector{all.values[64 * k + 63], all.values[64 * k], all.values[64 * k + 15]}));
  }
  // By ranks as well: rank 0 writes.
  ASSERT_EQ(solve(std::string(system) + "output: {rows: rows.txt}\n", {"--ranks", "2"}).code, 0);
  EXPECT_NEAR(x().values[1], all.values[0], 1e-7);
}

TEST_F(RowsOfX, AFileThatNamesThemBadlyIsRefusedBeforeTheSolve) {
  for (auto const& [text, said] : std::initializer_list<std::pair<char const*, char const*>>{
           {"1\n65\n", "output.rows: number 2 is 65; rows are 1 to 64"},
           {"0\n", "output.rows: number 1 is 0; rows are 1 to 64"},
           {"-3\n", "number 1 is -3; rows are 1 to 64"},
           {"1e300\n", "rows are 1 to 64"},
           {"nan\n", "number 1 is nan; rows are 1 to 64"},
           {"2.5\n", "output.rows: number 1 is 2.5, which is not whole"},
           {"7\n3\n7\n", "output.rows: number 3 is 7, which is named before"},
           {"1 2\n", "output.rows: 2 numbers a line; name a row a line"},
           {"", "rows.txt"},
           {"one\n", "rows.txt:1"}}) {
    SCOPED_TRACE(text);
    write_text(folder_ / "rows.txt", text);
    Outcome const o = solve(std::string(system) + "output: {rows: rows.txt}\n");
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_TRUE(has(o.err, said)) << o.err;
    EXPECT_EQ(solve(std::string(system) + "output: {rows: rows.txt}\n", {"--dry-run"}).code, 2);
  }
  Outcome const none = solve(std::string(system) + "output: {rows: none.txt}\n");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "'rows': there is no file")) << none.err;
  write_text(folder_ / "rows.txt", "1\n");
  Outcome const batch = solve(
      "problem: {batch: {generator: {type: poisson7, n: 3}, count: 2}}\nsolver: {type: cg}\n"
      "output: {rows: rows.txt}\n");
  EXPECT_EQ(batch.code, 1) << batch.out;
  EXPECT_TRUE(has(batch.err, "'output.rows' names rows of one system")) << batch.err;
}

TEST_F(RowsOfX, TheFileIsNotReplacedByX) {
  ASSERT_EQ(solve(std::string(system) + "output: {solution: true}\n").code, 0);
  write_text(folder_ / "tcsolve-out/x.mtx", "1\n");
  Outcome const o = solve(std::string(system) + "output: {rows: tcsolve-out/x.mtx}\n");
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_TRUE(has(o.err, "is where x would be written")) << o.err;
  EXPECT_EQ(read_text(folder_ / "tcsolve-out/x.mtx"), "1\n");
}

}  // namespace
}  // namespace tcsolve::cli
