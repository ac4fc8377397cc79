// SPDX-License-Identifier: Apache-2.0
/// Files that all ranks read, each a part: the rows, and the words of every fault, of one reader.
#include <tcsolve/distributed/read_rows.hpp>

#include <bit>
#include <cstdint>
#include <random>
#include <string>

#include <tcsolve/io/files/matrix_file.hpp>

#include "tests/ranks/ranks.hpp"
#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

/// Stretches of the rows of a matrix that is there as a whole, by their definition.
Stretches expected_stretches(Csr<double> const& a, int ranks) {
  Stretches out;
  out.starts = {0};
  std::int64_t const all = a.entries() + a.rows;
  for (int r = 1; r < ranks; ++r) {
    std::int64_t i = 0;
    while (i < a.rows && (a.offsets[static_cast<std::size_t>(i)] + i) * ranks < all * r) ++i;
    out.starts.push_back(i);
  }
  out.starts.push_back(a.rows);
  return out;
}

/// Rows [first, first + rows) of a, with its columns.
Csr<double> rows_of(Csr<double> const& a, std::int64_t first, std::int64_t rows) {
  Csr<double> out{.rows = static_cast<Index>(rows), .cols = a.cols};
  for (Index i = static_cast<Index>(first); i < first + rows; ++i) {
    out.columns.insert(out.columns.end(), a.row_columns(i).begin(), a.row_columns(i).end());
    out.values.insert(out.values.end(), a.row_values(i).begin(), a.row_values(i).end());
    out.offsets.push_back(out.entries());
  }
  return out;
}

class ReadRows : public testing::Test {
 protected:
  std::filesystem::path file(std::string_view text) { return write_text(folder_ / "A", text); }

  /// Each rank's rows are those of the matrix that one reader has, bit by bit.
  void expect_rows_of_one(std::string_view text, ReadOptions const& options = {}) {
    auto const path = file(text);
    Csr<double> const whole = read_matrix(path, options);
    for (int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(cat(ranks, " ranks"));
      Stretches const rows = expected_stretches(whole, ranks);
      on_ranks(ranks, [&](Context& ctx, int r) {
        EXPECT_TRUE(can_be_read_by_ranks(all_ranks(ctx), path));
        DealtRows const got = read_rows(all_ranks(ctx), path, options);
        EXPECT_EQ(got.rows.starts, rows.starts);
        Csr<double> const expected = rows_of(whole, rows.first(r), rows.size(r));
        EXPECT_EQ(got.A.offsets, expected.offsets);
        EXPECT_EQ(got.A.columns, expected.columns);
        EXPECT_EQ(got.A.cols, expected.cols);
        ASSERT_EQ(got.A.values.size(), expected.values.size());
        for (std::size_t k = 0; k < expected.values.size(); ++k)
          EXPECT_TRUE(same_bits(got.A.values[k], expected.values[k])) << k;
      });
    }
  }
  /// Every rank throws what one reader does, in its words.
  void expect_fault_of_one(std::string_view text, std::string const& part,
                           ReadOptions const& options = {}) {
    auto const path = file(text);
    std::string const said = words_of<MatrixError>([&] { read_matrix(path, options); });
    EXPECT_NE(said.find(part), std::string::npos) << said;
    for (int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(cat(ranks, " ranks"));
      on_ranks(ranks, [&](Context& ctx, int) {
        EXPECT_EQ(words_of<MatrixError>([&] { read_rows(all_ranks(ctx), path, options); }), said);
        barrier(all_ranks(ctx));  // all are well
      });
    }
  }

  TemporaryFolder folder_;
};

std::string banner(std::string const& kind, int rows, int cols, std::size_t stored) {
  return cat("%%MatrixMarket matrix coordinate ", kind, "\n% made by a test\n\n", rows, " ", cols,
             " ", stored, "\n");
}

/// Lines of entries at places of chance, some of them more than once, of one triangle where that is
/// `lower`; with comments and blank lines between them.
std::string lines_of_chance(int rows, int cols, std::size_t stored, std::string const& field,
                            bool lower, bool diagonal = true) {
  std::mt19937 chance(7);
  std::string text;
  for (std::size_t k = 0; k < stored; ++k) {
    int i = 1 + static_cast<int>(chance() % static_cast<unsigned>(rows)),
        j = 1 + static_cast<int>(chance() % static_cast<unsigned>(cols));
    if (lower && i < j) std::swap(i, j);
    if (!diagonal && i == j) {
      i = rows;
      j = 1;
    }
    text += cat(i, " ", j);
    // Values of every size: a sum depends on its order.
    if (field == "real") text += cat(" ", double(chance()) * std::ldexp(1.0, chance() % 60));
    if (field == "integer") text += cat(" ", int(chance() % 1000) - 500);
    text += k % 7 == 3 ? " \n\n% between\n" : "\n";
  }
  return text;
}

TEST_F(ReadRows, AreThoseOfOneReaderWhateverTheFileHolds) {
  for (std::string const field : {"real", "integer", "pattern"})
    for (auto const& [symmetry, diagonal] : {std::pair<std::string, bool>{"general", true},
                                             {"symmetric", true},
                                             {"skew-symmetric", false}}) {
      if (field == "pattern" && !diagonal) continue;
      for (std::size_t const stored : {0, 1, 5, 400}) {
        SCOPED_TRACE(cat(field, " ", symmetry, " ", stored));
        expect_rows_of_one(banner(field + " " + symmetry, 40, 40, stored) +
                           lines_of_chance(40, 40, stored, field, symmetry != "general", diagonal));
      }
    }
}

TEST_F(ReadRows, OfAnUpperTriangleAndOfAMatrixThatIsNotSquare) {
  expect_rows_of_one(banner("real symmetric", 3, 3, 3) + "1 3 2\n1 1 4\n2 3 5");  // without '\n'
  expect_rows_of_one(banner("real general", 60, 7, 200) +
                     lines_of_chance(60, 7, 200, "real", false));
  expect_rows_of_one(banner("real general", 3, 90, 200) +
                     lines_of_chance(3, 90, 200, "real", false));
}

/// More rows than a rank counts one by one, of very different lengths.
TEST_F(ReadRows, OfManyRows) {
  std::string text = banner("real general", 30000, 30000, 60000);
  for (int i = 30000; i > 0; --i) text += cat(i, " ", i, " 4\n");
  for (int k = 1; k <= 30000; ++k) text += cat(k < 20000 ? 17 : k, " ", 30001 - k, " 0.1\n");
  expect_rows_of_one(text);
}

TEST_F(ReadRows, OfFewerRowsThanRanks) {
  expect_rows_of_one(banner("real general", 2, 2, 3) + "2 2 1\n1 1 2\n2 1 3\n");
  expect_rows_of_one(banner("real general", 0, 0, 0));
  expect_rows_of_one(banner("real general", 5, 5, 0) + "% nothing\n\n");
}

/// The stretches of the ranks between are comments alone, or the inside of one line.
TEST_F(ReadRows, OfAPartWithoutEntries) {
  std::string const comments(4000, '%');
  expect_rows_of_one(banner("real general", 2, 2, 2) + "1 1 1\n" + comments + "\n2 2 2\n");
  std::string lines;
  for (int k = 0; k < 500; ++k) lines += "%\n";
  expect_rows_of_one(banner("real general", 2, 2, 2) + lines + "1 1 1\n2 2 2\n");
}

TEST_F(ReadRows, FaultsAreTheFirstOfTheFileByTheirLines) {
  std::string good;
  for (int i = 1; i <= 20; ++i) good += cat(i, " ", i, " 4\n");
  auto const with = [&](std::string const& more, std::size_t stored) {
    return banner("real general", 20, 20, stored) + good + more;
  };
  expect_fault_of_one(with("21 1 1\n", 21), "A:25: the row in '21 1 1' is outside 1 .. 20");
  expect_fault_of_one(banner("real general", 20, 20, 21) + "1 0 1\n" + good + "1 1 x\n",
                      "A:5: the column in '1 0 1' is outside 1 .. 20");
  expect_fault_of_one(with("1 1 nan\n", 21), "A:25: the value in '1 1 nan' is not finite");
  expect_fault_of_one(with("1 2 3 4\n", 21), "goes on behind its entry");
  expect_fault_of_one(with("1 2 1\n\n%\n1 3 1\n", 21), "A:28: more entries than the 21");
  expect_fault_of_one(with("", 10), "A:15: more entries than the 10 of the size line");
  expect_fault_of_one(with("", 0), "A:5: more entries than the 0 of the size line");
  expect_fault_of_one(with("", 22), "A:25: the file ends after 20 of 22 entries");
  expect_fault_of_one(with("1 2", 21), "no value in '1 2'");
  expect_fault_of_one(banner("real general", 20, 20, 1), "A:5: the file ends after 0 of 1 entries");
  expect_fault_of_one(banner("real general", 20, 20, 1) + "%     \n",
                      "A:6: the file ends after 0 of 1 entries");
}

TEST_F(ReadRows, FaultsThatTheEntriesShowTogether) {
  std::string lines;
  for (int i = 1; i <= 20; ++i) lines += cat(i, " ", i, " 4\n");
  expect_fault_of_one(
      banner("real symmetric", 20, 20, 22) + "20 19 1\n" + lines + "19 20 1\n",
      "A:26: entry (19, 20) is there more than once: the symmetric file stores both");
  expect_fault_of_one(
      banner("real general", 20, 20, 22) + "7 7 1.5e308\n" + lines + "7 7 1.5e308\n",
      "the duplicate entries of row 7 have a sum beyond the range of double");
  expect_fault_of_one(banner("real general", 20, 20, 21) + lines + "18 18 4\n",
                      "A:25: entry (18, 18) is there more than once",
                      {.duplicates = Duplicates::refuse});
}

std::string big(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  return out;
}

/// A matrix as PETSc writes it, of rows that need not be canonical.
struct Petsc {
  int integers = 4, scalars = 8;

  std::string real(double v) const {
    return scalars == 8 ? big(std::bit_cast<std::uint64_t>(v), 8)
                        : big(std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4);
  }
  std::string text(Csr<double> const& a) const {
    std::string out = big(1211216, integers) + big(static_cast<std::uint64_t>(a.rows), integers) +
                      big(static_cast<std::uint64_t>(a.cols), integers) +
                      big(static_cast<std::uint64_t>(a.entries()), integers);
    for (Index i = 0; i < a.rows; ++i) out += big(a.row_columns(i).size(), integers);
    for (Index const j : a.columns) out += big(static_cast<std::uint64_t>(j), integers);
    for (double const v : a.values) out += real(v);
    return out;
  }
};

Csr<double> some_rows() {
  Csr<double> a{.rows = 50, .cols = 50};
  std::mt19937 chance(3);
  for (Index i = 0; i < a.rows; ++i) {
    for (unsigned k = chance() % 9; k > 0; --k) {  // in any order, some twice
      a.columns.push_back(static_cast<Index>(chance() % 50));
      a.values.push_back(double(chance() % 4096) / 16 - 100);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

TEST_F(ReadRows, OfAPetscFileBySeeking) {
  Csr<double> const a = some_rows();
  for (Petsc const build : {Petsc{4, 8}, Petsc{8, 8}, Petsc{4, 4}}) {
    ReadOptions const options{.petsc = build.scalars == 4 ? PetscScalar::float32
                                                          : PetscScalar::automatic};
    std::string const vector =
        big(1211214, build.integers) + big(1, build.integers) + build.real(2);
    expect_rows_of_one(build.text(a), options);
    expect_rows_of_one(build.text(a) + vector, options);
    expect_rows_of_one(build.text({.rows = 3, .cols = 3, .offsets = {0, 0, 0, 0}}), options);
    expect_rows_of_one(build.text({.rows = 0, .cols = 0}), options);
  }
}

TEST_F(ReadRows, FaultsOfAPetscFileByTheirPlaces) {
  Csr<double> const a = some_rows();
  Petsc const build;
  auto const entries = static_cast<std::size_t>(a.entries());
  Csr<double> bad = a;
  bad.columns[entries - 1] = 50;
  bad.values[0] = std::numeric_limits<double>::quiet_NaN();  // comes behind all columns
  expect_fault_of_one(build.text(bad), cat("column[", entries - 1, "] = 50 is outside 0 .. 49"));
  bad.columns[entries - 1] = 49;
  bad.values[entries - 2] = std::numeric_limits<double>::infinity();
  expect_fault_of_one(build.text(bad), "value[0] = nan is not finite");
  std::string text = build.text(a);
  Index last = 49;  // with entries
  while (a.row_columns(last).empty()) --last;
  auto const with_length = [&](std::uint64_t length) {
    return std::string(text).replace(4 * static_cast<std::size_t>(4 + last), 4, big(length, 4));
  };
  expect_fault_of_one(with_length(100), cat("exceed the ", entries, " entries of the matrix"));
  expect_fault_of_one(with_length(0), cat("; the matrix has ", entries, " entries"));
  expect_fault_of_one(text.substr(0, text.size() - 1),
                      "the file ends in a matrix: it is truncated");
  Csr<double> sums{.rows = 4, .cols = 2, .offsets = {0, 1, 1, 1, 3}};
  sums.columns = {0, 1, 1};
  sums.values = {1, 1.5e308, 1.5e308};
  expect_fault_of_one(build.text(sums), "CSR row 4, column 2: the sum of its entries is inf");
}

TEST_F(ReadRows, OfFilesThatCanBeCutAlone) {
  std::string const text = banner("real general", 1, 1, 1) + "1 1 1\n";
  auto const can = [&](std::filesystem::path const& path, std::filesystem::path const& other) {
    bool all = false;
    on_ranks(2, [&](Context& ctx, int r) {
      bool const here = can_be_read_by_ranks(all_ranks(ctx), r == 0 ? path : other);
      if (r == 0) all = here;
    });
    return all;
  };
  auto const plain = file(text),
             array = write_text(folder_ / "array",
                                "%%MatrixMarket matrix array real general\n1 1\n1\n"),
             gzip = write_text(folder_ / "gz", std::string_view("\x1f\x8b\x08\x00", 4)),
             longer = write_text(folder_ / "longer", text + "\n");
  EXPECT_TRUE(can(plain, plain));
  EXPECT_FALSE(can(plain, longer)) << "they are two files";
  EXPECT_FALSE(can(plain, folder_ / "none")) << "one rank does not see it";
  EXPECT_FALSE(can(array, array));
  EXPECT_FALSE(can(gzip, gzip));
  EXPECT_FALSE(can("-", "-"));
}

TEST(DealtRows, GoFromAnyDealToAnyOther) {
  Csr<double> const a = test::spd();
  for (int ranks : {1, 2, 4})
    for (Deal const from : {Deal::even, Deal::uneven, Deal::some_empty})
      for (Deal const to : {Deal::even, Deal::some_empty}) {
        auto const stretch = [&](Deal deal) {
          auto const starts = stretches(a.rows, ranks, deal);
          return Stretches{{starts.begin(), starts.end()}};
        };
        Stretches const given = stretch(from), wanted = stretch(to);
        on_ranks(ranks, [&](Context& ctx, int r) {
          Ranks& all = all_ranks(ctx);
          DealtRows const before{rows_of(a, given.first(r), given.size(r)), given};
          EXPECT_EQ(balanced(all, before), expected_stretches(a, ranks));
          DealtRows const after = redealt(all, before, wanted);
          EXPECT_EQ(after.rows, wanted);
          EXPECT_EQ(after.A, rows_of(a, wanted.first(r), wanted.size(r)));
          DealtRows const whole = redealt(all, after, on_rank_0(ranks, a.rows));
          EXPECT_EQ(whole.A, r == 0 ? a : rows_of(a, a.rows, 0));
        });
      }
}

}  // namespace
}  // namespace tcsolve::test
