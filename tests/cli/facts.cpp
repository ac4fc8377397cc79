// SPDX-License-Identifier: Apache-2.0
/// What is said of systems that are singular whatever their values are, in the numbers of the file,
/// and of keys that a config may not hold.
#include <tcsolve/formats/format.hpp>

#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

class Facts : public Program {
 protected:
  /// Rows 2 and 4 are empty.
  void write_holes() {
    write_text(folder_ / "A.mtx",
               "%%MatrixMarket matrix coordinate real general\n5 5 7\n1 1 4\n1 2 1\n1 4 -1\n3 3 4\n"
               "3 1 1\n5 5 3\n5 4 1\n");
  }
  fs::path shared(std::string const& name) { return test::shared_case(name); }
};

TEST_F(Facts, AnEquationWithoutUnknownsIsNamedAtOnce) {
  write_holes();
  write_text(folder_ / "b.txt", "1\n0\n1\n2\n1\n");
  Outcome o = tcsolve({"A.mtx", "b.txt", "--backend", "host"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  std::string const fact = "row 4 of A is empty and b is not zero there: no x satisfies this";
  EXPECT_TRUE(has(o.verdict(), "breakdown:inconsistent after 0 iterations; " + fact)) << o.out;
  EXPECT_EQ(o.verdict().find(fact), o.verdict().rfind(fact)) << "said twice: " << o.verdict();
  EXPECT_TRUE(has(o.err, "warning: " + fact)) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "breakdown:inconsistent");
  EXPECT_FALSE(result()["verdict"]["converged"]);
  // A method that is named runs, and the fact stands beside its end.
  o = tcsolve({"A.mtx", "b.txt", "--backend", "host", "--solver", "gmres"});
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_TRUE(has(o.verdict(), fact)) << o.out;
  // In another order, too.
  o = tcsolve({"A.mtx", "b.txt", "--backend", "host", "--set", "operator={reorder: rcm}"});
  EXPECT_TRUE(has(o.verdict(), fact)) << o.out;
}

TEST_F(Facts, ASolvableSystemWithEmptyRowsIsSolved) {
  write_holes();
  write_text(folder_ / "b.txt", "1\n0\n1\n0\n1\n");
  Outcome const o = tcsolve({"A.mtx", "b.txt", "--backend", "host"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(has(o.err, "warning: A is singular: rows 2 and 4 are empty")) << o.err;
}

TEST_F(Facts, TheStructuralRankIsToldInWords) {
  // Rows 1 to 3 have entries in columns 1 and 2 alone.
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n4 4 9\n1 1 1\n1 2 2\n2 1 3\n2 2 1\n"
             "3 1 1\n3 2 5\n4 1 1\n4 3 2\n4 4 1\n");
  write_text(folder_ / "b.txt", "1\n2\n-3\n1\n");
  Outcome const o = tcsolve({"A.mtx", "b.txt", "--backend", "host"});
  EXPECT_EQ(o.code, 4) << o.out;
  EXPECT_TRUE(has(o.err, "A is singular: its structural rank is 3 of 4")) << o.err;
  std::string const all = o.out + o.err;
  EXPECT_FALSE(has(all, "STRUCTURALLY SINGULAR")) << all;
  EXPECT_TRUE(has(o.verdict(), "nullspace") || has(o.verdict(), "lsmr")) << o.out;
  EXPECT_FALSE(has(o.verdict(), "raise restart")) << o.out;
}

/// Column 6 is twice column 3: complete factors name one of the two, whatever order they are in.
TEST_F(Facts, AColumnWithoutAPivotIsNamedByTheFilesNumber) {
  constexpr int n = 9;
  std::string entries;
  int count = 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
      int const like = j == 6 ? 3 : j;
      int const value = (7 * i * i + 5 * i * like + 3 * like * like * i) % 11 - 5;
      if (value == 0 || (i + like) % 4 == 0) continue;
      entries += cat(i, " ", j, " ", j == 6 ? 2 * value : value, "\n");
      ++count;
    }
  write_text(folder_ / "A.mtx", cat("%%MatrixMarket matrix coordinate real general\n", n, " ", n,
                                    " ", count, "\n", entries));
  Outcome const o = tcsolve(
      {"A.mtx", "random", "--backend", "host", "--solver", "gmres", "--preconditioner", "direct"});
  EXPECT_EQ(o.code, 4) << o.out << o.err;
  EXPECT_TRUE(has(o.verdict(), "column 3 is, but for rounding, a sum of multiples of others") ||
              has(o.verdict(), "column 6 is, but for rounding, a sum of multiples of others"))
      << o.out << o.err;
}

TEST_F(Facts, CasesOfOthers) {
  struct Case {
    char const *folder, *matrix, *rhs;
    int code;
    char const* said;
  };
  for (Case const& c :
       {Case{"11-krylovjl-189-lineax-18-singular", "psd.mtx", "b_psd.txt", 4,
             "is empty and b is not"},
        Case{"11-krylovjl-189-lineax-18-singular", "psd.mtx", "b_psd_ok.txt", 0, ""},
        Case{"11-krylovjl-189-lineax-18-singular", "lx.mtx", "b_lx_bad.txt", 4,
             "is empty and b is not"},
        Case{"11-krylovjl-189-lineax-18-singular", "lx.mtx", "b_lx.txt", 0, ""},
        Case{"15-spicesharp-34-floating-circuit", "A.mtx", "b.txt", 0, ""},
        Case{"15-spicesharp-34-floating-circuit", "A.mtx", "b_bad.txt", 4, "nullspace"},
        Case{"17-scipy-7219-rank-deficient", "A.mtx", "b.txt", 0, ""},
        Case{"19-matpower-97-isolated-bus", "B.mtx", "P.txt", 4, "of A "},
        Case{"19-matpower-97-isolated-bus", "B.mtx", "P_no_load.txt", 0, ""}}) {
    fs::path const folder = shared(c.folder);
    if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
    Outcome const o = tcsolve({folder / c.matrix, folder / c.rhs, "--backend", "host"});
    EXPECT_EQ(o.code, c.code) << c.folder << " " << c.rhs << "\n" << o.out << o.err;
    EXPECT_TRUE(has(o.verdict(), c.said)) << c.folder << " " << c.rhs << "\n" << o.out;
    EXPECT_FALSE(has(o.out + o.err, "ZERO COLUMN")) << o.out << o.err;
  }
}

/// What the reference lists is taken, and what it does not is an error of the config.
TEST_F(Facts, TypesOfFactorsAreThoseOfTheReference) {
  write_text(
      folder_ / "A.mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n"
      "3 3 2\n");
  for (std::string const kind : {"ilu", "ic", "fsai", "spai", "schwarz", "direct"}) {
    auto const with = [&](std::string const& values) {
      return tcsolve({"A.mtx", "--backend", "host", "-q", "--set", "solver.type=gmres", "--set",
                      "preconditioner={type: " + kind + ", values: " + values + "}"});
    };
    Outcome const wide = with("fp32"), narrow = with("bf16");
    EXPECT_NE(wide.code, 1) << kind << wide.err;
    EXPECT_EQ(narrow.code, 1) << kind << narrow.out;
    EXPECT_TRUE(has(narrow.err, "'values' = 'bf16' is not one of fp64, fp32, fp16"))
        << kind << narrow.err;
    EXPECT_FALSE(has(tcsolve({"--explain", "preconditioner." + kind}).out, "bf16")) << kind;
  }
  Outcome const inner =
      tcsolve({"absent.mtx", "-q", "--set", "solver.type=fgmres", "--set",
               "preconditioner={type: solver, solver: {type: auto, max_iters: 5}}"});
  EXPECT_EQ(inner.code, 1) << "before the matrix is read: " << inner.err;
  EXPECT_TRUE(has(inner.err, "cannot be an inner solver")) << inner.err;
}

/// With lsmr, which multiplies by the transpose, a format that has none is an error of the config,
/// whether the method is named or taken by auto.
TEST_F(Facts, AFormatWithoutATransposeIsTheConfigsFaultEitherWay) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 2\n2 1 1\n2 2 3\n3 2 1\n");
  int without = 0;
  for (Format const& format : formats()) {
    int code = -1;
    for (std::string const solver : {"lsmr", "auto"}) {
      Outcome const o =
          tcsolve({"A.mtx", "--backend", "host", "-q", "--set", "solver.type=" + solver, "--set",
                   "preconditioner.type=none", "--set", "operator.format=" + format.name});
      if (solver == "lsmr") code = o.code;
      EXPECT_EQ(o.code, code) << format.name << o.out << o.err;
    }
    without += code == 1;
  }
  EXPECT_GT(without, 0);
}

}  // namespace
}  // namespace tcsolve::cli
