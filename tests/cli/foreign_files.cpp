// SPDX-License-Identifier: Apache-2.0
/// Files of other programs: those that are read, and those that are named with a command that
/// converts them, wherever a file is taken.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_file.hpp>

namespace tcsolve::cli {
namespace {

using test::shared_case;

class ForeignFiles : public Program {
 protected:
  /// The command between the backticks of a message.
  static std::string command_in(std::string const& message) {
    std::size_t const begin = message.find('`');
    std::size_t const end = begin == std::string::npos ? begin : message.find('`', begin + 1);
    return end == std::string::npos ? "" : message.substr(begin + 1, end - begin - 1);
  }
  /// Whatever takes a matrix refuses `file` by `name`; what it then advises makes A.mtx.
  void converted(std::string const& file, std::string const& name) {
    SCOPED_TRACE(file);
    std::string message;
    for (Arguments const& arguments :
         std::vector<Arguments>{{file}, {"info", file}, {"init", file}, {"advise", file}}) {
      Outcome const o = tcsolve(arguments);
      EXPECT_EQ(o.code, 2) << o.err;
      EXPECT_TRUE(has(o.err, name)) << o.err;
      EXPECT_FALSE(has(o.err, "config")) << o.err;
      message = o.err;
    }
    Outcome const o = solve("problem: {matrix: \"" + file + "\"}\nsolver: {type: auto}\n");
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_TRUE(has(o.err, name)) << o.err;
    std::string const advised = command_in(message);
    ASSERT_FALSE(advised.empty()) << message;
    ASSERT_EQ(run({"bash", "-c", advised}).code, 0) << advised;
  }
  void copied(fs::path const& from, std::string const& name) {
    fs::copy_file(from, folder_ / name, fs::copy_options::overwrite_existing);
  }
};

std::string const laplace =
    "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n2 3 -1\n"
    "3 2 -1\n3 3 2\n";

/// All are tridiag(-1, 2, -1) of three rows.
TEST_F(ForeignFiles, AreNamedAndTheCommandConvertsThem) {
  struct {
    std::string file, text, name;
  } const cases[] = {
      {"IJ.out.A.00000",
       "0 2 0 2\n0 0 2.0e+00\n0 1 -1.0\n1 1 2.0\n1 0 -1.0\n1 2 -1.0\n2 2 2.0\n2 1 -1.0\n",
       "a matrix of HYPRE (HYPRE_IJMatrixPrint)"},
      {"job_STIF1.mtx",
       "1,1, 1,1,  2.0e+00\n2,1, 1,1, -1.0\n2,1, 2,1,  2.0\n3,1, 2,1, -1.0\n3,1, 3,1, 2.0\n",
       "a matrix of Abaqus"},
      {"dump.txt",
       "#  HashMatrix Matrix (COO) 0x55d0\n#    n       m        nnz     half     fortran   state\n"
       "3 3 7 0 0 0 0 \n 0 0 2\n 0 1 -1\n 1 0 -1\n 1 1 2\n 1 2 -1\n 2 1 -1\n 2 2 2\n",
       "a matrix of FreeFem (HashMatrix)"},
      {"half.txt",
       "#  HashMatrix Matrix (CSR) 0x1\n# n m nnz half fortran state\n3 3 5 1 1 0 0\n1 1 2\n2 1 "
       "-1\n"
       "2 2 2\n3 2 -1\n3 3 2\n",
       "a matrix of FreeFem (HashMatrix)"},
      {"morse.txt",
       "# Sparse Matrix (Morse)\n# first line: n m (is symmetic) nnz\n# after for each nonzero "
       "coefficient:   i j a_ij where (i,j) in {1,...,n}x{1,...,m}\n3 3 1 5\n1 1 2\n2 1 -1\n2 2 2\n"
       "3 2 -1\n3 3 2\n",
       "a matrix of FreeFem (Morse)"},
      {"triplets.mtx", "1  1   2.0\n1  2  -1.0\n2 1 -1.0\n2 2 2.0\n2 3 -1\n3 2 -1\n3 3 2\n",
       "a list of triplets"},
      {"a b's zero.txt", "0 0 2\n0 1 -1\n1 0 -1\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n",
       "a list of triplets"},
      {"triplets.csv", "1,1,2.0\n1,2,-1\n2,1,-1\n2,2,2\n2,3,-1\n3,2,-1\n3,3,2\n",
       "a list of triplets"},
      {"sized.txt", "3 3 7\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n2 3 -1\n3 2 -1\n3 3 2\n",
       "a Matrix Market file without its banner"},
  };
  write_text(folder_ / "right.mtx", laplace);
  Csr<double> const right = read_matrix(folder_ / "right.mtx");
  for (auto const& [file, text, name] : cases) {
    write_text(folder_ / file, text);
    fs::remove(folder_ / "A.mtx");
    converted(file, name);
    EXPECT_EQ(read_matrix(folder_ / "A.mtx"), right) << file;
  }
}

TEST_F(ForeignFiles, BinaryFilesAreNamed) {
  struct {
    std::string file, bytes, name;
  } const cases[] = {
      {"A.mtx.bz2", "BZh91AY", "a bzip2 file; unpack it first: `bunzip2 A.mtx.bz2`"},
      {"A.zst", "\x28\xb5\x2f\xfd....", "a Zstandard file; unpack it first: `unzstd A.zst`"},
      {"A.h5", "\x89HDF\r\n\x1a\n....", "an HDF5 file"},
      {"new.mat", "MATLAB 7.3 MAT-file, Platform: x", "save('A.mat', 'A', '-v7')"},
      {"a.out",
       "\x7f"
       "ELF\x02\x01",
       "a program (ELF)"},
      {"wide.txt",
       std::string("\xff\xfe"
                   "1\0\n\0",
                   6),
       "iconv -f UTF-16 -t UTF-8 wide.txt"},
      {"edges.txt", "1 2\n2 3\n3 1\n", "a list of pairs, such as edges of a graph"},
      {"b.txt", "1.0\n2\n3\n", "a list of numbers, a vector"},
      {"dense.csv", "1,2,3,4\n5,6,7,8\n", "a table of numbers, 4 on a line: a dense matrix"},
      {"page.mtx", "<!DOCTYPE html>\n<html>", "a web page; it was downloaded in place of the file"},
      {"lfs.mtx", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"},
      {"view.txt", "Mat Object: 1 MPI process\n  type: seqaij\nrow 0: (0, 2.)\n",
       "-mat_view binary:A.petsc"},
  };
  for (auto const& [file, bytes, name] : cases) {
    SCOPED_TRACE(file);
    write_text(folder_ / file, bytes);
    for (Arguments const& arguments : std::vector<Arguments>{{file}, {"info", file}}) {
      Outcome const o = tcsolve(arguments);
      EXPECT_EQ(o.code, 2) << o.err;
      EXPECT_TRUE(has(o.err, name)) << o.err;
    }
    Outcome const o = solve("problem: {matrix: " + file + "}\nsolver: {type: auto}\n");
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_TRUE(has(o.err, name)) << o.err;
    EXPECT_EQ(result()["verdict"]["outcome"], "input_error");
  }
  write_text(folder_ / "notes.txt", "once upon a time\n");
  Outcome const o = tcsolve({"notes.txt"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "neither a config nor a matrix that tcsolve reads: it starts with 'once"))
      << o.err;
}

TEST_F(ForeignFiles, AsRightHandSides) {
  write_text(folder_ / "A.mtx", laplace);
  write_text(folder_ / "IJ.out.b.00000", "0 2\n0 1.0e+00\n1 1.0\n2 1.0\n");
  Outcome o = tcsolve({"A.mtx", "IJ.out.b.00000"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(has(o.err, "a vector of HYPRE (HYPRE_IJVectorPrint)")) << o.err;
  ASSERT_EQ(run({"bash", "-c", command_in(o.err)}).code, 0) << o.err;
  EXPECT_EQ(tcsolve({"A.mtx", "b.txt"}).code, 0);
  write_text(folder_ / "b.bz2", "BZh91AY");
  for (std::string const key : {"rhs", "x0", "solution"}) {
    o = tcsolve({"A.mtx", "--set", "problem." + key + "=b.bz2"});
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_TRUE(has(o.err, "a bzip2 file; unpack it first: `bunzip2 b.bz2`")) << o.err;
  }
  o = tcsolve({"A.mtx", "--solver", "cg", "--set", "nullspace={files: [b.bz2]}"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(has(o.err, "a bzip2 file")) << o.err;
}

TEST_F(ForeignFiles, APipeOfAShellIsRead) {
  write_text(folder_ / "A.mtx", laplace);
  std::string const program = command({}).front();
  for (std::string const call :
       {" <(cat A.mtx)", " A.mtx <(printf '1\\n2\\n3\\n')",
        " <(printf 'problem: {generator: {type: poisson7, n: 4}}\\nsolver: cg\\n')"}) {
    Outcome const o = run({"bash", "-c", "exec " + program + call});
    EXPECT_EQ(o.code, 0) << call << o.err;
  }
}

TEST_F(ForeignFiles, SharedCases) {
  fs::path const hb = shared_case("05-matrixmarketjl-4-harwell-boeing"),
                 abaqus = shared_case("06-modelreduction-5-abaqus"),
                 hypre = shared_case("07-hypre-1127-ij-print"),
                 freefem = shared_case("28-freefem-333-dump"),
                 scipy = shared_case("16-pydatasparse-959-scipy-25305-npz"),
                 fortran = shared_case("02-numpy-5557-fortran-exponent");
  if (hb.empty() || abaqus.empty() || hypre.empty() || freefem.empty() || scipy.empty() ||
      fortran.empty())
    GTEST_SKIP() << "the shared cases are not here";
  for (fs::path const& file : {hb / "A.rb", hb / "A.rua", scipy / "A.mat", fortran / "A.mtx"}) {
    Outcome const o = tcsolve({file});
    EXPECT_EQ(o.code, 0) << file << o.err;
    EXPECT_LE(result()["solution_error"], 1e-6) << file;
  }
  EXPECT_EQ(tcsolve({fortran / "A.mtx", fortran / "b.txt", "--set", "output.solution=true"}).code,
            0);
  copied(abaqus / "job_STIF1.mtx", "job_STIF1.mtx");
  copied(abaqus / "job_coordinate.mtx", "job_coordinate.mtx");
  copied(hypre / "IJ.out.A.00000", "IJ.out.A.00000");
  copied(freefem / "A.txt", "A.txt");
  for (auto const& [file, name] : {std::pair{"job_STIF1.mtx", "a matrix of Abaqus"},
                                   {"job_coordinate.mtx", "a list of triplets"},
                                   {"IJ.out.A.00000", "a matrix of HYPRE"},
                                   {"A.txt", "a matrix of FreeFem"}}) {
    converted(file, name);
    EXPECT_EQ(tcsolve({"A.mtx"}).code, 0) << file;
  }
  Outcome o = tcsolve({scipy / "pydata_coo.npz"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(has(o.err, "an array of the package pydata/sparse")) << o.err;
  o = tcsolve({scipy / "csr_array.npz", scipy / "b2.npy"});
  EXPECT_EQ(o.code, 0) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
