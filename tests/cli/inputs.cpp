// SPDX-License-Identifier: Apache-2.0
/// What a run says of its input files before anything is set up: lengths, columns, nullspaces, what
/// a PETSc file leaves open, entries that are no numbers.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/numpy.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <sstream>

namespace tcsolve::cli {
namespace {

using test::shared_case;

std::string big(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  return out;
}
std::string petsc_vector(std::vector<double> const& values) {
  std::string out = big(1211214, 4) + big(values.size(), 4);
  for (double const v : values) out += big(std::bit_cast<std::uint64_t>(v), 8);
  return out;
}
/// (2 1; 0 3)
std::string petsc_matrix() {
  std::string out;
  for (std::uint64_t const v : {1211216, 2, 2, 3, 2, 1, 0, 1, 1}) out += big(v, 4);
  for (double const v : {2, 1, 3}) out += big(std::bit_cast<std::uint64_t>(v), 8);
  return out;
}

class Inputs : public Program {
 protected:
  void SetUp() override {
    write_text(folder_ / "A.mtx",
               "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 3 2\n"
               "3 1 1\n");
    write_text(folder_ / "b.txt", "5\n3\n3\n");
    // The Laplacian of a path: ones are its nullspace.
    write_text(folder_ / "L.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 1 -1\n2 2 2\n3 2 "
               "-1\n3 3 1\n");
    write_text(folder_ / "load.txt", "1\n0\n-1\n");
  }
  Outcome with(Arguments arguments, std::vector<std::string> const& sets = {}) {
    for (std::string const& set : sets) arguments.insert(arguments.end(), {"--set", set});
    arguments.insert(arguments.end(), {"--backend", "host"});
    return tcsolve(arguments);
  }
  void refused(Outcome const& o, std::string const& words, int code = 2) {
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(has(o.err, words)) << o.err;
  }
};

TEST_F(Inputs, TheBBehindAPetscMatrixIsTaken) {
  write_text(folder_ / "f", petsc_matrix() + petsc_vector({4, 6}) + petsc_vector({1, 2}));
  for (Arguments const& arguments :
       std::vector<Arguments>{{"f"}, {"f", "f"}, {"f", "f", "--set", "problem.x0=f"}}) {
    Arguments all = arguments;
    all.insert(all.end(), {"--set", "output={solution: true, bandwidth: false}"});
    Outcome const o = tcsolve(all);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(has(o.out, "read as real float64; the file does not say")) << o.out;
    EXPECT_TRUE(has(o.out, "b is the one in f") || has(o.out, "b and x0 are those in f")) << o.out;
    auto const x = read_vector_file(folder_ / "tcsolve-out/x.mtx", "x");
    EXPECT_NEAR(x[0], 1, 1e-7);
    EXPECT_NEAR(x[1], 2, 1e-7);
    EXPECT_EQ(result()["config"]["problem"]["rhs"], "f");
  }
  // b of the words is not replaced.
  Outcome const o = with({"f"}, {"problem.rhs=A_times_ones"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.out, "b is the one")) << o.out;
  EXPECT_LE(result()["solution_error"], 1e-7);
  Outcome const info = tcsolve({"info", "f"});
  EXPECT_TRUE(has(info.out, "read as         PETSc binary, read as real float64")) << info.out;
  refused(with({"A.mtx", "f"}), "the right-hand side has 2 rows; the matrix asks for 3");
}

TEST_F(Inputs, LengthsAreCheckedBeforeAnythingIsSetUp) {
  write_text(folder_ / "two.txt", "1\n2\n");
  write_text(folder_ / "two.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  write_numpy_vector(folder_ / "two.npy", std::vector<double>{1, 2});
  struct {
    std::string key, what;
  } const keys[] = {{"problem.rhs", "the right-hand side"},
                    {"problem.x0", "the initial guess"},
                    {"problem.solution", "the solution"}};
  for (auto const& [key, what] : keys)
    for (std::string const file : {"two.txt", "two.mtx", "two.npy"})
      for (bool const dry : {false, true}) {
        SCOPED_TRACE(key + " " + file);
        Arguments arguments{"A.mtx"};
        if (dry) arguments.push_back("--dry-run");
        Outcome const o = with(arguments, {key + "=" + file});
        refused(o, what + " has 2 rows; the matrix asks for 3");
        EXPECT_FALSE(has(o.out, "is valid")) << o.out;
      }
  EXPECT_EQ(with({"A.mtx", "b.txt", "--dry-run"}).code, 0);
}

/// The columns of a run are read by one reader, whatever they are written as.
TEST_F(Inputs, ColumnsOfEveryKindOfFile) {
  std::vector<double> const B{5, 3, 3, 10, 6, 6};
  write_numpy_vector(folder_ / "B.npy", B, 2);
  write_text(folder_ / "B.txt", "5 10\n3 6\n3 6\n");
  write_text(folder_ / "B.mtx",
             "%%MatrixMarket matrix array real general\n3 2\n5\n3\n3\n10\n6\n6\n");
  for (std::string const file : {"B.npy", "B.txt", "B.mtx"}) {
    SCOPED_TRACE(file);
    Outcome const o = with({"A.mtx", file, "--solver", "gmres"},
                           {"output={solution: true, solution_format: npy, bandwidth: false}"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(has(o.out, "2 right-hand sides from " + file)) << o.out;
    Columns const x = read_columns_file(folder_ / "tcsolve-out/x.npy", "x");
    ASSERT_EQ(x.values.size(), 6u);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(x.values[k], k < 3 ? 1 : 2, 1e-6);
    // What was written is the next guess.
    fs::copy_file(folder_ / "tcsolve-out/x.npy", folder_ / "x0.npy",
                  fs::copy_options::overwrite_existing);
    EXPECT_EQ(with({"A.mtx", file, "--solver", "gmres"}, {"problem.x0=x0.npy"}).code, 0);
    EXPECT_EQ(result()["iterations"], 0);
  }
  refused(with({"A.mtx", "B.npy"}, {"problem.x0=b.txt"}), "1 column; there are 2 right-hand sides");
}

TEST_F(Inputs, NullspaceFilesAreInputs) {
  write_text(folder_ / "ones.txt", "1\n1\n1\n");
  write_text(folder_ / "short.txt", "1\n1\n");
  write_text(folder_ / "junk.txt", "once\n");
  write_text(folder_ / "nan.txt", "1\nnan\n1\n");
  write_text(folder_ / "two.txt", "1 1\n1 1\n1 1\n");
  auto const run_with = [&](std::string const& files) {
    return with({"L.mtx", "load.txt", "--solver", "cg"}, {"nullspace={files: [" + files + "]}"});
  };
  EXPECT_EQ(run_with("ones.txt").code, 0);
  struct {
    std::string files, says;
  } const cases[] = {{"nosuch.txt", "nosuch.txt: No such file"},
                     {"one.txt", "did you mean 'ones.txt'?"},
                     {"junk.txt", "junk.txt:1: the value in 'once' is not a number"},
                     {"nan.txt", "nan.txt:2: the value in 'nan' is not finite"},
                     {"short.txt", "short.txt: the nullspace has 2 rows; the matrix asks for 3"},
                     {"'ones.txt', 'ones.txt'", "depends on those before it"},
                     {"two.txt", "depends on those before it"}};
  for (auto const& [files, says] : cases) {
    SCOPED_TRACE(files);
    Outcome const o = run_with(files);
    refused(o, says);
    EXPECT_EQ(result()["verdict"]["outcome"], "input_error");
    EXPECT_FALSE(has(o.err + o.out, "setup_failed")) << o.err;
  }
}

TEST_F(Inputs, SharedRigidBodyModes) {
  fs::path const folder = shared_case("21-moose-11277-feelpp-1168-rigid-body");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  auto const run_with = [&](std::string const& names) {
    std::string files;
    std::istringstream list(names);
    for (std::string name; list >> name;)
      files += (files.empty() ? "'" : ", '") + (folder / name).string() + "'";
    return with({folder / "K.mtx", folder / "f.txt", "--solver", "cg"},
                {"nullspace={files: [" + files + "]}"});
  };
  EXPECT_EQ(run_with("tx.txt ty.txt rot.txt").code, 0);
  int const apart = result()["iterations"];
  EXPECT_EQ(run_with("modes.mtx").code, 0) << "three columns are three vectors";
  EXPECT_EQ(result()["iterations"], apart);
  for (char const* bad : {"junk.txt", "short.txt", "zero.txt", "tx.txt tx.txt", "none.txt"}) {
    EXPECT_EQ(run_with(bad).code, 2) << bad;
    EXPECT_EQ(result()["verdict"]["outcome"], "input_error") << bad;
  }
}

TEST_F(Inputs, TheRowOfTheFirstNanIsNamed) {
  write_text(folder_ / "nan.txt", "1\nnan\ninf\n");
  Outcome o = with({"A.mtx", "nan.txt", "--solver", "gmres"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(has(o.verdict(), "the right-hand side has NaN in row 2")) << o.out;
  write_text(folder_ / "inf.txt", "1 0\n1 1\n1 -inf\n");
  o = with({"A.mtx", "inf.txt", "--solver", "gmres"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(has(o.verdict(), "the right-hand side has Inf in row 3, column 2")) << o.out;
  o = with({"A.mtx", "b.txt", "--solver", "gmres"}, {"problem.x0=nan.txt"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(has(o.verdict(), "the initial guess has NaN in row 2")) << o.out;
  fs::path const folder = shared_case("32-svsolver-54-nan-rhs");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  for (char const* b : {"b.txt", "b.npy", "binf.txt"}) {
    o = with({folder / "A.mtx", folder / b});
    EXPECT_EQ(o.code, 4) << b << o.err;
    EXPECT_TRUE(has(o.verdict(), " in row ")) << b << o.out;
  }
  EXPECT_EQ(with({folder / "Anan.mtx"}).code, 2);
}

TEST_F(Inputs, ASkewSymmetricMatrixIsCalledSo) {
  write_text(folder_ / "skew.mtx",
             "%%MatrixMarket matrix coordinate real skew-symmetric\n4 4 3\n2 1 1e-7\n3 1 0.3\n4 2 "
             "-7e5\n");
  Outcome o = tcsolve({"info", "skew.mtx"});
  EXPECT_TRUE(has(o.out, "symmetry        skew-symmetric: A^T = -A")) << o.out;
  write_text(folder_ / "near.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 1 1\n1 2 -1\n1 1 0.1\n");
  o = tcsolve({"info", "near.mtx"});
  EXPECT_TRUE(has(o.out, "symmetry        nonsymmetric")) << o.out;
}

TEST_F(Inputs, MoreSharedCases) {
  fs::path const unsorted = shared_case("24-hypre-1297-unsorted"),
                 zeros = shared_case("27-clsparse-184-168-empty-rows-zeros"),
                 paths = shared_case("23-elmer-356-paths"),
                 petsc = shared_case("20-petsc-ex72-binary-one-file");
  if (unsorted.empty() || zeros.empty() || paths.empty() || petsc.empty())
    GTEST_SKIP() << "the shared cases are not here";
  EXPECT_EQ(with({unsorted / "A.mtx"}).code, 0);
  Outcome const info = tcsolve({"info", (zeros / "A.mtx").string(), "--json"});
  EXPECT_TRUE(has(info.out, "\"entries\": 7")) << info.out;
  EXPECT_TRUE(has(info.out, "\"empty_rows\": 2")) << info.out;
  EXPECT_EQ(with({zeros / "toofew.mtx"}).code, 2);
  EXPECT_EQ(with({zeros / "toomany.mtx"}).code, 2);
  EXPECT_EQ(tcsolve({paths / "Größe und Maß (neu)/lauf.yaml", "-o", "here"}).code, 0);
  for (std::string const name :
       {"spd-real-int32-float64", "ns-real-int64-float64", "tiny_system_with_x0"}) {
    Outcome const o = with({petsc / name});
    EXPECT_EQ(o.code, 0) << name << o.err;
    EXPECT_TRUE(
        has(o.out, name == "tiny_system_with_x0" ? "b and x0 are those in" : "b is the one in"))
        << o.out;
  }
  for (std::string const name : {"hpd-complex-int32-float32", "nh-complex-int32-float32"})
    refused(with({petsc / name}), "look like pairs of float32");
  refused(with({petsc / "spd-real-int32-float32"}), "problem.petsc: {scalar: float32}");
  EXPECT_EQ(with({petsc / "spd-real-int32-float32"}, {"problem.petsc.scalar=float32"}).code, 0);
  refused(with({petsc / "tiny_system_with_x0.mat"}), "a MATLAB 7.3 file");
}

}  // namespace
}  // namespace tcsolve::cli
