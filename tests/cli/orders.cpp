// SPDX-License-Identifier: Apache-2.0
/// Orders of rows from the command line: what is taken, and that nobody else sees it.
#include "tests/cli/program.hpp"
#include "tests/support/formats.hpp"

#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

namespace tcsolve::cli {
namespace {

TEST_F(Program, AReorderedSolveAnswersInTheOrderGiven) {
  auto const x = [&](std::string const& keys) {
    Outcome const o = solve(
        "problem: {generator: {type: poisson27, n: 9, coefficient: random, renumber: random},"
        " rhs: random, x0: random}\n"
        "operator: {" +
        keys +
        "}\npreconditioner: {type: jacobi}\n"
        "solver: {type: cg, rtol: 1.0e-12}\noutput: {solution: true}\n");
    EXPECT_EQ(o.code, 0) << o.err;
    return read_vector(folder_ / "tcsolve-out/x.mtx");
  };
  std::vector<double> const given = x("format: csr");
  EXPECT_TRUE(result()["reordering"].is_null());
  std::string const converted =
      "format: " + test::converted_format().name + ", values: fp32, reorder: rcm";
  for (char const* keys :
       {"format: csr, reorder: rcm", converted.c_str(),
        "format: auto, reorder: auto, expected_applies: 1.0e7",
        "format: auto, values: fp32, reorder: rcm", "format: csr, reorder: none"}) {
    SCOPED_TRACE(keys);
    std::vector<double> const reordered = x(keys);
    ASSERT_EQ(reordered.size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) ASSERT_NEAR(reordered[i], given[i], 1e-9);
    if (std::string(keys).ends_with("none")) continue;
    auto const r = result();
    EXPECT_EQ(r["reordering"]["taken"], "rcm");
    EXPECT_LT(r["reordering"]["after"]["bandwidth"], r["reordering"]["before"]["bandwidth"]);
    EXPECT_GE(r["seconds"]["reorder"], 0);
  }
}

TEST_F(Program, AnOrderThatDoesNotPayIsNotMade) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, renumber: random}, rhs: random}\n"
      "solver: {type: cg}\noperator: ";
  for (char const* keys : {"{format: csr, reorder: auto}\n",
                           "{format: auto, reorder: auto, expected_applies: 20}\n"}) {
    Outcome const o = solve(config + keys);
    EXPECT_EQ(o.code, 0) << o.err;
    auto const r = result();
    EXPECT_EQ(r["reordering"]["taken"], "none") << keys;
    EXPECT_TRUE(r["reordering"]["before"].is_null());
    EXPECT_TRUE(r["reordering"]["after"].is_null());
  }
}

/// Blocks of rows are what the config says they are, also inside another preconditioner.
TEST_F(Program, AnOrderLeavesBlocksOfRowsTogether) {
  std::string const config =
      "problem: {generator: {type: poisson27, n: 9, renumber: random}, rhs: random}\n"
      "operator: {format: auto, expected_applies: 1.0e7}\n"
      "solver: {type: cg}\npreconditioner: ";
  for (auto const& [keys, taken] :
       {std::pair{"{type: jacobi}\n", "rcm"},
        {"{type: block_jacobi, block: 3}\n", "none"},
        {"{type: chebyshev, preconditioner: {type: block_jacobi}}\n", "none"}}) {
    Outcome const o = solve(config + keys);
    EXPECT_EQ(o.code, 0) << keys << o.err;
    EXPECT_EQ(result()["reordering"]["taken"], taken) << keys;
  }
}

TEST_F(Program, MetisOrdersOrSaysThatItIsNotBuilt) {
  Outcome const o = solve(std::string(small_config) + "operator: {format: csr, reorder: metis}\n");
  if (metis_built()) {
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(result()["reordering"]["taken"], "metis");
  } else {
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_NE(o.err.find("libmetis-dev"), std::string::npos) << o.err;
  }
}

TEST_F(Program, AReorderedMatrixMustBeSquare) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 1\n");
  Outcome const o = solve(
      "problem: {matrix: a.mtx}\noperator: {format: csr, reorder: rcm}\nsolver: {type: lsmr}\n");
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_NE(o.err.find("2 x 3"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
