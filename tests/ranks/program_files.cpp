// SPDX-License-Identifier: Apache-2.0
/// Files of `tcsolve --ranks N`: a matrix that each rank reads its part of, and x in parts.
#include "tests/cli/program.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <tcsolve/core/device.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

namespace tcsolve::cli {
namespace {

using Json = nlohmann::json;

class RankedFiles : public Program {
 protected:
  /// The run of `file` over ranks; what it says last on standard error where it fails.
  Json solved(std::string const& file, int ranks, Arguments more = {}) {
    more.insert(more.begin(), {file, "--ranks", std::to_string(ranks), "--backend", "host"});
    Outcome const o = tcsolve(more);
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    return result();
  }
  Columns columns_in(std::string const& name) const {
    fs::path const path = folder_ / "tcsolve-out" / name;
    return read_columns({name, [path] { return open_file(path); }});
  }
};

/// Of a compressed file rank 0 reads all, and deals it.
TEST_F(RankedFiles, WhoReadsTheMatrixMakesNoDifference) {
  for (auto const& [generator, solver] :
       {std::pair<std::string, std::string>{"convdiff", "gmres"}, {"elasticity", "cg"}}) {
    ASSERT_EQ(tcsolve({"generate", generator, "--set", "n=6", "-o", "A.mtx"}).code, 0);
    ASSERT_EQ(run({"gzip", "-kf", "A.mtx"}).code, 0);
    for (int ranks : {2, 3, 4})
      for (std::string const by : {"rows", "auto"}) {
        SCOPED_TRACE(generator + " by " + std::to_string(ranks) + ", " + by);
        Arguments const more{"--solver",
                             solver,
                             "--preconditioner",
                             "jacobi",
                             "--set",
                             "ranks.partition=" + by,
                             "--set",
                             "output.bandwidth=false"};
        Json const all = solved("A.mtx", ranks, more), one = solved("A.mtx.gz", ranks, more);
        EXPECT_EQ(all["problem"]["hash"], one["problem"]["hash"]);
        EXPECT_EQ(all["problem"]["entries"], one["problem"]["entries"]);
        for (char const* const key : {"iterations", "residual", "ranks", "warnings"})
          EXPECT_EQ(all[key], one[key]) << key;
        EXPECT_NEAR(double(all["solution_error"]), double(one["solution_error"]), 1e-12);
      }
  }
}

/// Rows that each rank makes have the bits of those that rank 0 makes of all, which it does where
/// it orders them, and of those in a file.
TEST_F(RankedFiles, WhoMakesTheMatrixMakesNoDifference) {
  for (auto const& [generator, solver] : {std::pair<std::string, std::string>{"poisson7", "cg"},
                                          {"poisson27", "cg"},
                                          {"anisotropic", "cg"},
                                          {"convdiff", "gmres"},
                                          {"elasticity", "cg"},
                                          {"banded", "cg"},
                                          {"longrows", "gmres"},
                                          {"rmat", "gmres"}}) {
    bool const grid = solver == "cg" ? generator != "banded" : generator == "convdiff";
    std::string const size = generator == "rmat" ? "scale: 7" : grid ? "n: 6" : "n: 300";
    std::string const more = generator == "longrows" ? ", long_rows: 3, long_length: 200" : "";
    auto const yaml = [method = solver](std::string const& matrix) {
      return "problem: {" + matrix + "}\nsolver: {type: " + method +
             ", max_iters: 40}\npreconditioner: {type: none}\noutput: {bandwidth: false}\n";
    };
    std::string const made =
        "generator: {type: " + generator + ", " + size + more + ", coefficient: random}";
    std::string const set = size.substr(0, size.find(':')) + "=" + size.substr(size.find(' ') + 1);
    Arguments generate{"generate",           generator, "-o", "A.mtx", "--set",
                       "coefficient=random", "--set",   set};
    if (!more.empty())
      generate.insert(generate.end(), {"--set", "long_rows=3", "--set", "long_length=200"});
    ASSERT_EQ(tcsolve(generate).code, 0);
    ASSERT_EQ(run({"gzip", "-kf", "A.mtx"}).code, 0);
    for (std::string const ranks : {"2", "3"})
      for (std::string const by : {"rows", "auto"}) {
        SCOPED_TRACE(generator + " by " + ranks + ", " + by);
        Arguments const over{"--ranks", ranks,   "--backend",
                             "host",    "--set", "ranks.partition=" + by};
        Outcome const o = solve(yaml(made), over);
        EXPECT_TRUE(o.code == 0 || o.code == 3) << o.out << o.err;
        Json const each = result();
        solve(yaml("matrix: A.mtx.gz"), over);
        Json const one = result();
        for (char const* const key : {"hash", "entries", "rows"})
          EXPECT_EQ(each["problem"][key], one["problem"][key]) << key;
        for (char const* const key : {"iterations", "residual", "ranks", "solution_error"})
          EXPECT_EQ(each[key], one[key]) << key;
      }
  }
}

/// What a dry run says that rank 0 takes of the host's memory.
double bytes_of_rank_0(std::string const& said) {
  std::string const begin = "# memory of rank 0: host ";
  std::size_t const at = said.find(begin);
  if (at == std::string::npos) return 0;
  std::istringstream words(said.substr(at + begin.size()));
  double count = 0;
  std::string unit;
  words >> count >> unit;
  return count * (unit == "MiB" ? 1 << 20 : unit == "KiB" ? 1 << 10 : 0);
}

TEST_F(RankedFiles, WithTheirOwnRowsReadRank0HasNoRoomForAll) {
  ASSERT_EQ(tcsolve({"generate", "poisson7", "--set", "n=24", "-o", "A.mtx"}).code, 0);
  ASSERT_EQ(run({"gzip", "-k", "A.mtx"}).code, 0);
  auto const bytes = [&](std::string const& file, std::string const& partition) {
    return bytes_of_rank_0(
        tcsolve({file, "--ranks", "4", "--dry-run", "--backend", "host", "--solver", "cg",
                 "--preconditioner", "jacobi", "--set", "output.bandwidth=false", "--set",
                 "ranks.partition=" + partition})
            .out);
  };
  double const all = bytes("A.mtx.gz", "rows");
  EXPECT_GT(all, 28 * 93'312.0);  // its entries, on their way into CSR
  EXPECT_LT(bytes("A.mtx", "rows"), 0.7 * all);
  EXPECT_EQ(bytes("A.mtx", "auto"), all);
}

TEST_F(RankedFiles, WithTheirOwnRowsMadeRank0HasNoRoomForAll) {
  auto const bytes = [&](std::string const& generator, std::string const& partition) {
    return bytes_of_rank_0(solve("problem: {generator: {" + generator + "}}\nsolver: {type: cg}\n" +
                                     "preconditioner: {type: jacobi}\noutput: {bandwidth: false}\n",
                                 {"--ranks", "8", "--dry-run", "--backend", "host", "--set",
                                  "ranks.partition=" + partition})
                               .out);
  };
  double const all = bytes("type: poisson27, n: 40", "grow");
  EXPECT_GT(all, 12 * 1'643'032.0);  // its entries
  EXPECT_LT(bytes("type: poisson27, n: 40", "rows"), 0.5 * all);
  EXPECT_EQ(bytes("type: poisson27, n: 40, renumber: random", "rows"),
            bytes("type: poisson27, n: 40, renumber: random", "grow"));
}

TEST_F(RankedFiles, WarnsAsOneReaderDoes) {
  std::string lines;
  for (int i = 1; i <= 30; ++i)
    if (i != 20) lines += std::to_string(i) + " " + std::to_string(i) + (i == 9 ? " -4\n" : " 4\n");
  write_text(folder_ / "A.mtx", "%%MatrixMarket matrix coordinate real general\n30 30 31\n" +
                                    lines + "25 2 1\n2 25 1.5\n");
  ASSERT_EQ(run({"gzip", "-k", "A.mtx"}).code, 0);
  for (std::string const rhs : {"ones", "A_times_ones"}) {
    Arguments const more{"--ranks",          "3",    "--solver", "cg",
                         "--preconditioner", "none", "--set",    "problem.rhs=" + rhs};
    auto const warnings = [&](std::string const& file) {
      Arguments all = more;
      all.insert(all.begin(), file);
      tcsolve(all);
      return result()["warnings"];
    };
    Json const said = warnings("A.mtx");
    EXPECT_EQ(said, warnings("A.mtx.gz"));
    EXPECT_TRUE(has(said.dump(), "row 20 and column 20 are empty")) << said;
    EXPECT_TRUE(has(said.dump(), "a(2, 25) = 1.5 but a(25, 2) = 1")) << said;
    EXPECT_TRUE(has(said.dump(), "a(9, 9) = -4")) << said;
    EXPECT_EQ(has(said.dump(), "no x satisfies"), rhs == "ones") << said;
  }
}

TEST_F(RankedFiles, AFaultIsSaidOnceInTheWordsOfOneReader) {
  std::string lines;
  for (int i = 1; i <= 30; ++i) lines += std::to_string(i) + " " + std::to_string(i) + " 4\n";
  std::string const banner = "%%MatrixMarket matrix coordinate real general\n30 30 ";
  for (std::string const& text :
       {banner + "31\n" + lines + "31 1 1\n", banner + "31\n1 x 1\n" + lines,
        banner + "31\n" + lines + "1 2 nan\n", banner + "29\n" + lines, banner + "31\n" + lines,
        banner + "31\n"}) {
    write_text(folder_ / "A.mtx", text);
    Arguments const one{"A.mtx", "--solver", "cg"};
    Outcome const alone = tcsolve(one);
    EXPECT_EQ(alone.code, 2);
    for (std::string const ranks : {"2", "4"}) {
      Outcome const o = tcsolve({"A.mtx", "--solver", "cg", "--ranks", ranks, "--backend", "host"});
      EXPECT_EQ(o.code, 2) << o.out;
      std::size_t const at = alone.err.find("A.mtx:");
      ASSERT_NE(at, std::string::npos) << alone.err;
      EXPECT_TRUE(has(o.err, alone.err.substr(at))) << o.err << "\n" << alone.err;
      EXPECT_EQ(o.err.find("A.mtx:"), o.err.rfind("A.mtx:")) << o.err;
    }
  }
}

constexpr char const* system_of_8 =
    "problem: {generator: {type: poisson7, n: 8, coefficient: random}, rhs: {columns: 2}}\n"
    "solver: {type: cg}\n"
    "preconditioner: {type: jacobi}\n";

TEST_F(RankedFiles, PartsOfXAreItsRows) {
  Arguments const parts{"--set", "output.solution_parts=true", "--backend", "host"};
  for (int const ranks : {4, 2, 1}) {
    SCOPED_TRACE(ranks);
    Arguments whole{"--ranks", std::to_string(ranks),  "--backend", "host",
                    "--set",   "ranks.partition=rows", "--set",     "output.solution=true"};
    ASSERT_EQ(solve(system_of_8, whole).code, 0);
    std::vector<double> const x = columns_in("x.mtx").values;
    Arguments more = parts;
    more.insert(more.end(), {"--ranks", std::to_string(ranks)});
    Outcome const o = solve(system_of_8, more);
    ASSERT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/x.mtx"));
    EXPECT_FALSE(fs::exists(folder_ / ("tcsolve-out/x." + std::to_string(ranks) + ".mtx")))
        << "of the run before";
    Json const files = result()["files"];
    EXPECT_TRUE(files["solution"].is_null());
    ASSERT_EQ(files["solution_parts"].size(), std::size_t(ranks));
    std::size_t first = 0;
    for (int r = 0; r < ranks; ++r) {
      Json const& part = files["solution_parts"][static_cast<std::size_t>(r)];
      EXPECT_EQ(part["file"], "x." + std::to_string(r) + ".mtx");
      EXPECT_EQ(part["first_row"], first + 1);
      auto const rows = part["rows"].get<std::size_t>();
      Columns const mine = columns_in(part["file"]);
      ASSERT_EQ(mine.values.size(), 2 * rows);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < 2; ++j)
          EXPECT_EQ(mine.values[j * rows + i], x[j * 512 + first + i]);
      first += rows;
    }
    EXPECT_EQ(first, 512u);
    EXPECT_TRUE(tidy());
  }
  Arguments npy = parts;
  npy.insert(npy.end(), {"--ranks", "2", "--set", "output.solution_format=npy"});
  ASSERT_EQ(solve(system_of_8, npy).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "tcsolve-out/x.1.npy"));
  EXPECT_FALSE(fs::exists(folder_ / "tcsolve-out/x.0.mtx"));
}

/// Two ranks on one device: rows that each has read, and x in parts, with the bits of rows dealt.
TEST_F(RankedFiles, OnADeviceTooGpu) {
  std::string why;
  if (!cuda::available(why, 0)) GTEST_SKIP() << why;
  ASSERT_EQ(tcsolve({"generate", "convdiff", "--set", "n=12", "-o", "A.mtx"}).code, 0);
  ASSERT_EQ(run({"gzip", "-k", "A.mtx"}).code, 0);
  auto const solved = [&](std::string const& file) {
    Outcome const o =
        tcsolve({file, "--ranks", "2", "--backend", "cuda", "--solver", "gmres", "--preconditioner",
                 "jacobi", "--set", "ranks.devices=[0, 0]", "--set", "ranks.transport=mpi", "--set",
                 "output.bandwidth=false", "--set", "output.solution_parts=true"});
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    return result();
  };
  Json const all = solved("A.mtx");
  std::vector<double> const x = columns_in("x.1.mtx").values;
  Json const one = solved("A.mtx.gz");
  for (char const* const key : {"iterations", "residual", "ranks", "files"})
    EXPECT_EQ(all[key], one[key]) << key;
  EXPECT_EQ(all["backend"], "cuda");
  EXPECT_EQ(x, columns_in("x.1.mtx").values);
  EXPECT_LT(double(all["solution_error"]), 1e-5);
}

TEST_F(RankedFiles, PartsThatCannotBeAreRefused) {
  auto const refused = [&](Arguments more, int code, std::string const& said) {
    more.insert(more.end(),
                {"--ranks", "2", "--backend", "host", "--set", "output.solution_parts=true"});
    Outcome const o = solve(system_of_8, more);
    EXPECT_EQ(o.code, code) << o.out << o.err;
    EXPECT_TRUE(has(o.out + o.err, said)) << o.out << o.err;
  };
  refused({"--set", "ranks.partition=grow"}, 1, "'output.solution_parts' writes them in the order");
  write_text(folder_ / "rows.txt", "1\n");
  refused({"--set", "output.rows=rows.txt"}, 1, "'solution_parts' writes no whole one");
  fs::create_directories(folder_ / "tcsolve-out");
  write_text(folder_ / "tcsolve-out/x.1.mtx", "%%MatrixMarket matrix array real general\n512 1\n");
  refused({"--set", "problem.rhs=tcsolve-out/x.1.mtx"}, 1, "is where x would be written");
  fs::remove_all(folder_ / "tcsolve-out");
  fs::create_directories(folder_ / "tcsolve-out/x.1.mtx/in");
  refused({}, 2, "; rank 1: ");
  EXPECT_EQ(result()["files"]["solution_parts"].size(), 1u);
}

/// Before anything is made for it.
TEST_F(RankedFiles, AnXTooLargeForOneRankIsForParts) {
  write_text(folder_ / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n200000000 200000000 1\n1 1 1\n");
  for (Arguments const& more : {Arguments{}, Arguments{"--dry-run"}}) {
    Arguments all{"A.mtx",
                  "--ranks",
                  "2",
                  "--solver",
                  "cg",
                  "--preconditioner",
                  "none",
                  "--backend",
                  "host",
                  "--set",
                  "output.solution=true"};
    all.insert(all.end(), more.begin(), more.end());
    Outcome const o = tcsolve(all);
    EXPECT_EQ(o.code, 1) << o.out;
    EXPECT_TRUE(has(o.err, "this one has 200000000; take output.solution_parts: true")) << o.err;
  }
}

}  // namespace
}  // namespace tcsolve::cli
