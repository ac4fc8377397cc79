// SPDX-License-Identifier: Apache-2.0
/// Right-hand sides with few entries, as a run reads them: what x is, or what is said of a file
/// that is wrong. A has 40 blocks of 5 rows, so that an entry of b reaches a fortieth of the
/// factors: from the fifth solve on the triangular solves visit that part alone.
#include <gmock/gmock.h>

#include <tcsolve/api/sparse_column.hpp>
#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/configs/schema/yaml.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

constexpr Index rows = 200, block = 5;

/// 2 on the diagonal, -1 beside it within a block.
std::string blocks_text() {
  std::string entries;
  int count = 0;
  for (Index i = 1; i <= rows; ++i)
    for (Index j = std::max<Index>(1, i - 1); j <= std::min(rows, i + 1); ++j) {
      if ((i - 1) / block != (j - 1) / block) continue;
      entries += cat(i, " ", j, " ", i == j ? 2 : -1, "\n");
      ++count;
    }
  return cat("%%MatrixMarket matrix coordinate real general\n", rows, " ", rows, " ", count, "\n",
             entries);
}

std::string sparse_text(std::string const& entries, std::string const& field = "real",
                        std::string const& size = "200 1") {
  return cat("%%MatrixMarket matrix coordinate ", field, " general\n", size, " ",
             std::ranges::count(entries, '\n'), "\n", entries);
}

class SparseRhs : public testing::Test {
 protected:
  SparseRhs() { write_text(folder_ / "A.mtx", blocks_text()); }
  /// The system of `problem: {matrix: A.mtx, rhs: ..}`, as a run looks at it and reads it.
  tcsolve::Problem load(std::string const& rhs) {
    Registries const registries;
    ParsedConfig const parsed = read_config(
        parse_yaml(cat("problem: {matrix: A.mtx, rhs: ", rhs, "}\nsolver: {type: cg}\n"),
                   "my.yaml"),
        folder_.path(), {}, registries.catalog);
    parsed.require_files();
    problem_size(parsed);
    return load_problem(parsed);
  }
  tcsolve::Problem load_file(std::string const& text) {
    write_text(folder_ / "b.mtx", text);
    return load("b.mtx");
  }
  template <class E>
  std::string refused(std::string const& rhs) {
    return message_of<E>([&] { load(rhs); });
  }
  std::string refused_file(std::string const& text) {
    write_text(folder_ / "b.mtx", text);
    return refused<MatrixError>("b.mtx");
  }
  /// Eight solves, the later ones by reaches: the report of the last, x of all with the same bits.
  static SolveReport solve_often(tcsolve::Problem const& p, char const* preconditioner,
                                 std::vector<double>& x) {
    LinearSolver solver(
        p.A.view(),
        {.solver = "gmres", .preconditioner = preconditioner, .backend = Backend::host});
    SolveReport report;
    for (int k = 0; k < 8; ++k) {
      std::vector<double> again(rows, 0.0);
      report = solver.solve(std::span(p.b).first(rows), again);
      if (k > 0) EXPECT_EQ(again, x) << "solve " << k;
      x = again;
    }
    return report;
  }
  /// x of each exact factorisation: row `at` of its block is that column of the inverse of
  /// tridiag(-1, 2, -1) times `size`, all else is exactly 0.
  static void expect_column(tcsolve::Problem const& p, Index at, double size) {
    for (char const* const preconditioner : {"ic", "ilu", "direct", "jacobi"}) {
      SCOPED_TRACE(preconditioner);
      std::vector<double> x;
      SolveReport const report = solve_often(p, preconditioner, x);
      EXPECT_TRUE(report.converged()) << report.message;
      for (Index i = 0; i < rows; ++i) {
        if (i / block != at / block) {
          EXPECT_EQ(x[i], 0) << i;
          continue;
        }
        double const k = i % block + 1, l = at % block + 1, n = block + 1;
        EXPECT_NEAR(x[i], size * std::min(k, l) * (n - std::max(k, l)) / n, 1e-6 * std::abs(size));
      }
    }
  }

  TemporaryFolder folder_;
};

TEST_F(SparseRhs, AUnitIsAColumnOfTheInverse) { expect_column(load("{units: [104]}"), 103, 1); }

TEST_F(SparseRhs, AUnitTwiceIsTwoColumns) {
  tcsolve::Problem const p = load("{units: [7, 7]}");
  ASSERT_EQ(p.columns, 2);
  EXPECT_TRUE(std::equal(p.b.begin(), p.b.begin() + rows, p.b.begin() + rows));
  expect_column(p, 6, 1);
}

TEST_F(SparseRhs, UnitsThatAreNoRowsAreRefused) {
  EXPECT_THAT(refused<MatrixError>("{units: [1, 201]}"), HasSubstr("there is no row 201"));
  EXPECT_THAT(refused<ConfigError>("{units: [0]}"), HasSubstr("units"));
  EXPECT_THAT(refused<ConfigError>("{units: [5, -1]}"), HasSubstr("units"));
  EXPECT_THAT(refused<ConfigError>("{units: [1.5]}"), HasSubstr("units"));
  EXPECT_THAT(refused<ConfigError>("{units: []}"), HasSubstr("units"));
}

TEST_F(SparseRhs, AnEntryOfAFileIsAColumnOfTheInverse) {
  expect_column(load_file(sparse_text("33 1 -2.5\n")), 32, -2.5);
}

TEST_F(SparseRhs, AnEntryTwiceIsSummed) {
  expect_column(load_file(sparse_text("33 1 1\n12 1 0\n33 1 2\n")), 32, 3);
}

TEST_F(SparseRhs, WithoutValuesEntriesAreOnes) {
  expect_column(load_file(sparse_text("200 1\n", "pattern")), 199, 1);
}

TEST_F(SparseRhs, NoEntryIsZeroWithoutAnIteration) {
  for (char const* const entries : {"", "9 1 0\n"}) {
    tcsolve::Problem const p = load_file(sparse_text(entries));
    for (char const* const preconditioner : {"direct", "ic", "none"}) {
      std::vector<double> x;
      SolveReport const report = solve_often(p, preconditioner, x);
      EXPECT_TRUE(report.converged()) << report.message;
      EXPECT_EQ(report.iterations, 0);
      EXPECT_EQ(x, std::vector<double>(rows, 0.0));
    }
  }
}

TEST_F(SparseRhs, NaNAndInfAreToldByTheirRow) {
  for (char const* const value : {"nan", "inf", "-inf"}) {
    tcsolve::Problem const p = load_file(sparse_text(cat("7 1 1\n9 1 ", value, "\n")));
    EXPECT_EQ(p.nonfinite,
              cat("the right-hand side has ", value[0] == 'n' ? "NaN" : "Inf", " in row 9"));
    std::vector<double> x;
    LinearSolver solver(p.A.view(),
                        {.solver = "gmres", .preconditioner = "direct", .backend = Backend::host});
    for (int k = 0; k < 8; ++k) {
      x.assign(rows, 0.0);
      EXPECT_EQ(solver.solve(p.b, x).reason, Stop::nonfinite);
      EXPECT_EQ(x, std::vector<double>(rows, 0.0));
    }
  }
}

TEST_F(SparseRhs, EntriesOutOfRangeAreToldByTheirLine) {
  for (char const* const entry : {"201 1 1\n", "0 1 1\n", "-1 1 1\n", "1 2 1\n", "1 0 1\n"}) {
    SCOPED_TRACE(entry);
    std::string const said = refused_file(sparse_text(cat("5 1 1\n", entry)));
    EXPECT_THAT(said, HasSubstr("b.mtx:4"));
  }
}

TEST_F(SparseRhs, MoreOrFewerEntriesThanAnnouncedAreRefused) {
  std::string const head = "%%MatrixMarket matrix coordinate real general\n200 1 ";
  EXPECT_THAT(refused_file(head + "2\n5 1 1\n"), HasSubstr("b.mtx"));
  EXPECT_THAT(refused_file(head + "1\n5 1 1\n6 1 1\n"), HasSubstr("b.mtx"));
}

TEST_F(SparseRhs, AnotherLengthThanThatOfAIsRefused) {
  for (char const* const size : {"201 1", "199 1"})
    EXPECT_THAT(refused_file(sparse_text("5 1 1\n", "real", size)),
                HasSubstr("the matrix asks for 200 rows"));
}

TEST_F(SparseRhs, ColumnsWithoutEntriesAreSolvedToo) {
  tcsolve::Problem const p = load_file(sparse_text("5 3 1\n", "real", "200 3"));
  ASSERT_EQ(p.columns, 3);
  LinearSolver solver(p.A.view(),
                      {.solver = "cg", .preconditioner = "ic", .backend = Backend::host});
  std::vector<double> x(3 * rows, 0.0);
  auto const reports = solver.solve_columns({p.b.data(), rows, 3, rows, Layout::col_major},
                                            {x.data(), rows, 3, rows, Layout::col_major});
  for (SolveReport const& report : reports) EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_EQ(reports[0].iterations, 0);
  EXPECT_TRUE(std::all_of(x.begin(), x.begin() + 2 * rows, [](double xi) { return xi == 0; }));
  EXPECT_NEAR(x[2 * rows + 4], 5.0 / 6, 1e-7);
}

TEST_F(SparseRhs, SpansOfAnotherLengthThanThatOfAAreRefused) {
  tcsolve::Problem const p = load("{units: [1]}");
  LinearSolver solver(p.A.view(),
                      {.solver = "cg", .preconditioner = "ic", .backend = Backend::host});
  std::vector<Index> const at{3};
  std::vector<double> const one{1};
  for (std::size_t const length : {199u, 201u}) {
    std::vector<double> x(length);
    EXPECT_THAT(message_of<ShapeError>([&] { solve(solver, {at, one}, x); }), HasSubstr("200"));
  }
}

}  // namespace
}  // namespace tcsolve::test
