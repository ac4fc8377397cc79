// SPDX-License-Identifier: Apache-2.0
/// Runs on the files of other programs, and x as NumPy reads it.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_file.hpp>

#include <cmath>

namespace tcsolve::cli {
namespace {

std::string scipy(std::string const& name) { return source_dir() / "tests/data/scipy" / name; }

TEST_F(Program, SolvesWhatScipySaved) {
  for (char const* matrix : {"csr.npz", "csc.npz", "coo.npz"}) {
    SCOPED_TRACE(matrix);
    Outcome const o = tcsolve({scipy(matrix), scipy("f8.npy"), "--rtol", "1e-12", "--set",
                               "output={solution: true, solution_format: npy, bandwidth: false}"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(result()["files"]["solution"], "x.npy");
    auto const x = read_vector_file(folder_ / "tcsolve-out/x.npy", "x");
    ASSERT_EQ(x.size(), 4u);
    EXPECT_NEAR(4 * x[0] - 1.5 * x[2], 1, 1e-10);
    EXPECT_NEAR(3 * x[1], -2.5, 1e-10);
  }
  // The next run's x is not to be taken for this one's, whatever it is written as.
  ASSERT_EQ(tcsolve({scipy("csr.npz"), "--set", "output.solution=true"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/x.npy"));
  EXPECT_TRUE(fs::exists(folder_ / "tcsolve-out/x.mtx"));
}

TEST_F(Program, SolvesWhatSuiteSparseShips) {
  std::string const banner = "%%MatrixMarket matrix ";
  fs::create_directory(folder_ / "HB");
  write_text(folder_ / "HB/HB.mtx",
             banner + "coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 3\n");
  write_text(folder_ / "HB/HB_b.mtx", banner + "array real general\n2 1\n5\n6\n");
  ASSERT_EQ(run({"tar", "czf", "HB.tar.gz", "HB"}).code, 0);
  EXPECT_EQ(tcsolve({"HB.tar.gz"}).code, 0);
  EXPECT_LE(result()["solution_error"], 1e-8) << "b is A (1, ..., 1)";
  Outcome o = tcsolve({"HB.tar.gz", "HB.tar.gz", "--rtol", "1e-12"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(result()["solution_error"].is_null());
  EXPECT_NEAR(result()["residual"]["rhs_norm"], std::sqrt(61.0), 1e-12);
  std::string const program = command({}).front();
  EXPECT_EQ(run({"bash", "-c", "\"$0\" - < HB.tar.gz", program}).code, 0);
  EXPECT_EQ(run({"bash", "-c", "\"$0\" info - < " + scipy("csr.npz"), program}).code, 0);
  o = tcsolve({"HB.tar.gz", "--set", "problem.x0=HB.tar.gz"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "no NAME/NAME_x0.mtx")) << o.err;
}

TEST_F(Program, AFaultyBinaryFileIsAnInputError) {
  std::string const bytes = read_text(scipy("csr.npz"));
  write_text(folder_ / "cut.npz", bytes.substr(0, bytes.size() / 2));
  Outcome o = tcsolve({"cut.npz"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "cut.npz")) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "input_error");
  o = tcsolve({scipy("csr.npz"), scipy("row.npy")});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "1 row and 4 columns; the matrix asks for 4 rows")) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
