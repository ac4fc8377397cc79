// SPDX-License-Identifier: Apache-2.0
/// `operator.reorder` over ranks: each orders its own rows and columns, b and x stay as they are
/// given. Every x is judged by the matrix as it was given.
#include <tcsolve/graph/reorder/graph_partition.hpp>

#include <tests/ranks/ranks.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

/// In no good order, so that all of them move rows, and a halo of most rows.
Csr<double> scrambled() {
  return generate(Poisson7Params{
      .n = 9, .coefficient = Coefficient::random, .renumber = Renumber::random, .seed = 3});
}

std::vector<std::string> orders() {
  std::vector<std::string> all{"rcm", "affinity"};
  if (metis_built()) all.push_back("metis");
  return all;
}

class RankOrders : public OnEachWay {
 protected:
  Csr<double> const a_ = scrambled();
  Column const b_ = random_column(a_.rows, 5);

  static std::string config(std::string const& order, std::string const& method = "cg",
                            std::string const& M = "{type: jacobi}",
                            std::string const& format = "csr") {
    return cat("solver: {type: ", method, ", rtol: 1.0e-9, max_iters: 5000}\npreconditioner: ", M,
               "\noperator: {format: ", format, ", reorder: ", order, "}\n");
  }
  static void expect_solved(Csr<double> const& a, Column const& b, Solved const& s) {
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    EXPECT_LE((to_dense(a) * s.x - b).norm(), 1.01e-9 * b.norm());
  }
  LinearSolver dealt(Context& ctx, Csr<double> const& a, std::vector<Index> const& at,
                     std::string const& yaml) const {
    LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
    solver.set_matrix(deal_rows(ctx, a, at));
    return solver;
  }
  static SolveReport solve(LinearSolver& solver, Column const& b, Column& x,
                           std::vector<Index> const& at, int r, SolveCall const& call = {}) {
    auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
    return solver.solve(std::span<double const>(b.data() + at[r], n),
                        std::span<double>(x.data() + at[r], n), call);
  }
};
TCSOLVE_ON_EACH_WAY(RankOrders);

/// jacobi is the same in every order: so are the iterations.
TEST_P(RankOrders, SolveTheSystemAsItIsGiven) {
  Solved const plain = by_both(Deal::even, a_, b_, config("none"));
  for (std::string const& order : orders())
    for (std::string const format : {"csr", "auto"})
      for (Deal const deal : {Deal::even, Deal::uneven, Deal::some_empty}) {
        SCOPED_TRACE(order + " " + format);
        Solved const s = by_both(deal, a_, b_, config(order, "cg", "{type: jacobi}", format));
        expect_solved(a_, b_, s);
        EXPECT_NEAR(s.report.iterations, plain.report.iterations, 2);
      }
  expect_solved(a_, b_, by_both(Deal::even, a_, b_, config("auto")));
}

TEST_P(RankOrders, AreTakenByEachRank) {
  auto const at = stretches(a_.rows, 2, Deal::uneven);
  on_both([&](Context& ctx, int r) {
    LinearSolver const solver = dealt(ctx, a_, at, config("rcm"));
    auto const& told = solver.setup_report().reordering;
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->taken, Reorder::rcm);
    EXPECT_LT(told->after.bandwidth, told->before.bandwidth) << "of rank " << r;
  });
}

/// What is made of rows of other ranks has these in their orders.
TEST_P(RankOrders, GoWithEveryPreconditioner) {
  for (auto const& [M, method] :
       {std::pair{"{type: fsai}", "cg"}, std::pair{"{type: spai}", "bicgstab"},
        std::pair{"{type: chebyshev, degree: 3}", "cg"}, std::pair{"{type: direct}", "cg"},
        std::pair{"{type: schwarz, parts: ranks, overlap: 1, inside: {type: ic}}", "cg"},
        std::pair{"{type: schwarz, parts: ranks, overlap: 0, inside: {type: direct}}", "cg"}}) {
    SCOPED_TRACE(M);
    Solved const plain = by_both(Deal::even, a_, b_, config("none", method, M)),
                 moved = by_both(Deal::even, a_, b_, config("rcm", method, M));
    expect_solved(a_, b_, moved);
    EXPECT_LE(moved.report.iterations, 1.3 * plain.report.iterations + 3);
    EXPECT_GE(moved.report.iterations, 0.6 * plain.report.iterations - 3);
  }
}

TEST_P(RankOrders, TakeNewValuesOfTheEntriesAsTheyWereGiven) {
  Csr<double> c = a_;
  for (std::size_t e = 0; e < c.values.size(); ++e) c.values[e] *= 1.5;
  for (Index i = 0; i < c.rows; ++i)
    for (Offset e = c.offsets[i]; e < c.offsets[i + 1]; ++e)
      if (c.columns[e] == i) c.values[e] += 0.01 * (i % 11);
  auto const at = stretches(a_.rows, 2, Deal::even);
  for (std::string const M : {"{type: jacobi}", "{type: fsai}",
                              "{type: schwarz, parts: ranks, overlap: 1, inside: {type: ic}}"})
    for (std::string const values : {"fp64", "fp32"}) {
      SCOPED_TRACE(M + " " + values);
      std::string const yaml = config("rcm", "cg", M, "csr, values: " + values);
      Solved const expected = by_both(Deal::even, c, b_, yaml);
      expect_solved(c, b_, expected);
      Column x = Column::Zero(a_.rows);
      on_both([&](Context& ctx, int r) {
        LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
        Rows64 const given = Rows64(a_, at[r], at[r + 1]).reversed(),
                     now = Rows64(c, at[r], at[r + 1]).reversed();
        solver.set_matrix(DistributedMatrix(ctx, at[r], given.view()));
        for (Rows64 const* rows : {&now, &given, &now})
          solver.update_values(std::span<double const>(rows->values));
        EXPECT_TRUE(solve(solver, b_, x, at, r).converged());
      });
      EXPECT_EQ(x, expected.x);
    }
}

/// A^T is made of rows in the order, and solved in the caller's numbers.
TEST_P(RankOrders, SolveWithTheTranspose) {
  Csr<double> a = a_;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      if (a.columns[e] > i) a.values[e] *= 0.8;
  auto const at = stretches(a.rows, 2, Deal::uneven);
  Column x = Column::Zero(a.rows), xt = x;
  on_both([&](Context& ctx, int r) {
    LinearSolver solver = dealt(ctx, a, at, config("rcm", "gmres"));
    EXPECT_TRUE(solve(solver, b_, xt, at, r, {.transpose = true}).converged());
    EXPECT_TRUE(solve(solver, b_, x, at, r).converged());
  });
  EXPECT_LE((to_dense(a).transpose() * xt - b_).norm(), 1.01e-9 * b_.norm());
  EXPECT_LE((to_dense(a) * x - b_).norm(), 1.01e-9 * b_.norm());
}

TEST_P(RankOrders, GoWithANullspace) {
  Csr<double> a = a_;
  for (Index i = 0; i < a.rows; ++i) {  // row sums of 0, columns weighted by z
    double sum = 0;
    Offset diagonal = 0;
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      if (a.columns[e] == i)
        diagonal = e;
      else
        sum += a.values[e];
    a.values[diagonal] = -sum;
  }
  Column b = b_;
  b.array() -= b.mean();
  Solved const s = by_both(Deal::even, a, b, config("rcm") + "nullspace: {constant: true}\n");
  expect_solved(a, b, s);
  EXPECT_NEAR(s.x.mean(), 0, 1e-10 * s.x.norm());
}

TEST_P(RankOrders, GoWithBlocksOfColumns) {
  Index const n = a_.rows, k = 3;
  Matrix const B = random_matrix(n, k, 8);
  auto const at = stretches(n, 2, Deal::uneven);
  for (std::string const method : {"pseudo_block_cg", "block_gmres"}) {
    Matrix X = Matrix::Zero(n, k);
    on_both([&](Context& ctx, int r) {
      LinearSolver solver = dealt(ctx, a_, at, config("affinity", method));
      solve_columns(solver, B, at[r], at[r + 1], X);
    });
    expect_columns_solved(a_, B, X);
  }
}

TEST(RankOrdersOfMany, ThreeAndFourRanks) {
  Csr<double> const a = scrambled();
  Column const b = random_column(a.rows, 5);
  std::string const yaml =
      "solver: {type: cg, rtol: 1.0e-9}\npreconditioner: {type: fsai}\noperator: {reorder: rcm}\n";
  for (auto const& [ranks, deal] : {std::pair{3, Deal::uneven}, std::pair{4, Deal::some_empty}}) {
    Solved const s = by_ranks(ranks, deal, a, b, yaml);
    EXPECT_TRUE(s.report.converged()) << s.report.message;
    EXPECT_LE((to_dense(a) * s.x - b).norm(), 1.01e-9 * b.norm());
  }
}

TEST(RankOrdersOfMany, NeedASquareMatrix) {
  Csr<double> const a = csr(random_matrix(12, 8, 3));
  on_ranks(2, [&](Context& ctx, int) {
    LinearSolver solver(
        ctx, SolverOptions::from_yaml("solver: {type: lsmr}\noperator: {reorder: rcm}\n"));
    EXPECT_THROW(solver.set_matrix(deal_rows(ctx, a, {0, 6, 12}, {0, 4, 8})), ShapeError);
  });
}

}  // namespace
}  // namespace tcsolve::test
