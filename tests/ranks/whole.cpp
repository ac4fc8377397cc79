// SPDX-License-Identifier: Apache-2.0
/// What ranks do with all rows of a matrix at once: solves with A^T, complete factors on one of
/// them, vectors of a nullspace that are as long as the whole.
#include <tcsolve/precond/on_one_rank.hpp>

#include <tests/ranks/ranks.hpp>
#include <tests/support/each_backend.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

class RanksWhole : public OnHostOrDevices {
 protected:
  std::vector<int> counts() const { return on_devices() ? std::vector{2} : std::vector{2, 4}; }
  template <class F>
  void on_all(int count, F const& f) const {
    on_ranks(count, f, 20, GetParam());
  }
};
TCSOLVE_ON_EACH_BACKEND(RanksWhole);

Matrix nonsymmetric() {
  Matrix dense = to_dense(spd());
  for (Index i = 0; i + 5 < dense.rows(); ++i) dense(i, i + 5) += 0.7;
  return dense;
}

std::span<double const> part(Column const& v, std::vector<Index> const& at, int r) {
  return {v.data() + at[r], static_cast<std::size_t>(at[r + 1] - at[r])};
}
std::span<double> part(Column& v, std::vector<Index> const& at, int r) {
  return {v.data() + at[r], static_cast<std::size_t>(at[r + 1] - at[r])};
}

TEST_P(RanksWhole, SolvesWithATransposed) {
  Matrix const symmetric = to_dense(spd()), other = nonsymmetric();
  for (auto const& [dense, M] :
       {std::pair{symmetric, "jacobi"}, std::pair{other, "jacobi"},
        std::pair{other, "schwarz, parts: ranks, overlap: 1"}, std::pair{other, "spai"}})
    for (int const count : counts()) {
      SCOPED_TRACE(M);
      Csr<double> const a = csr(dense);
      Column const b = random_column(a.rows, 5);
      auto const at = stretches(a.rows, count, Deal::uneven);
      Column x = Column::Zero(a.rows), y = x;
      on_all(count, [&, &dense = dense, &M = M](Context& ctx, int r) {
        LinearSolver solver(
            ctx, SolverOptions::from_yaml(cat(
                     "solver: {type: gmres, rtol: 1.0e-9}\npreconditioner: {type: ", M, "}\n")));
        solver.set_matrix(deal_rows(ctx, a, at));
        SolveCall call;
        call.transpose = true;
        EXPECT_TRUE(solver.solve(part(b, at, r), part(x, at, r), call).converged());
        EXPECT_NE(solver.setup_report().transposed.find(dense == symmetric ? "symmetric bit by bit"
                                                                           : "a second set-up"),
                  std::string::npos);
        Rows64 rows(a, at[r], at[r + 1]);
        for (double& v : rows.values) v *= 2;
        solver.update_values(std::span<double const>(rows.values));
        EXPECT_TRUE(solver.solve(part(b, at, r), part(y, at, r), call).converged());
      });
      EXPECT_LE((dense.transpose() * x - b).norm(), 1.01e-9 * b.norm());
      EXPECT_LE((2 * dense.transpose() * y - b).norm(), 1.01e-9 * b.norm());
    }
}

TEST_P(RanksWhole, LeastSquaresWithATransposed) {
  Matrix const dense = random_matrix(40, 30, 3);
  Csr<double> const a = csr(dense);
  auto const rows = stretches(40, 2, Deal::even), cols = stretches(30, 2, Deal::uneven);
  Column const b = random_column(30, 5);
  Column x = Column::Zero(40);
  on_all(2, [&](Context& ctx, int r) {
    LinearSolver solver(ctx, SolverOptions::from_yaml("solver: {type: lsmr, rtol: 1.0e-9}\n"));
    solver.set_matrix(deal_rows(ctx, a, rows, cols));
    SolveCall call;
    call.transpose = true;
    EXPECT_TRUE(solver.solve(part(b, cols, r), part(x, rows, r), call).converged());
  });
  EXPECT_LE((dense.transpose() * x - b).norm(), 1.01e-9 * b.norm());
}

TEST_P(RanksWhole, OneMakesCompleteFactorsForAll) {
  for (Matrix const& dense : {to_dense(spd()), nonsymmetric()})
    for (int const count : counts())
      for (Deal const deal : {Deal::uneven, Deal::some_empty}) {
        Csr<double> const a = csr(dense);
        Column const b = random_column(a.rows, 5);
        auto const at = stretches(a.rows, count, deal);
        Column x = Column::Zero(a.rows), y = x, z = x;
        on_all(count, [&](Context& ctx, int r) {
          LinearSolver solver(ctx, SolverOptions::from_yaml("solver: {type: gmres, rtol: 1.0e-10}\n"
                                                            "preconditioner: {type: direct}\n"));
          solver.set_matrix(deal_rows(ctx, a, at));
          SolveReport const report = solver.solve(part(b, at, r), part(x, at, r));
          EXPECT_TRUE(report.converged()) << report.message;
          EXPECT_LE(report.iterations, 2);
          EXPECT_NE(solver.M()->details().find("by rank 0"), std::string::npos);
          SolveCall call;
          call.transpose = true;
          EXPECT_TRUE(solver.solve(part(b, at, r), part(y, at, r), call).converged());
          Rows64 rows(a, at[r], at[r + 1]);
          for (double& v : rows.values) v *= -3;
          solver.update_values(std::span<double const>(rows.values));
          SolveReport const renewed = solver.solve(part(b, at, r), part(z, at, r));
          EXPECT_TRUE(renewed.converged()) << renewed.message;
          EXPECT_LE(renewed.iterations, 2);
        });
        EXPECT_LE((dense * x - b).norm(), 1.01e-10 * b.norm());
        EXPECT_LE((dense.transpose() * y - b).norm(), 1.01e-10 * b.norm());
        EXPECT_LE((3 * dense * z + b).norm(), 1.01e-10 * b.norm());
      }
}

TEST_P(RanksWhole, CompleteFactorsOfManyRowsAreRefusedByAll) {
  auto const n = static_cast<Index>(most_gathered_rows + 1);
  Csr<double> a;
  a.rows = a.cols = n;
  a.offsets.resize(static_cast<std::size_t>(n) + 1);
  std::iota(a.offsets.begin(), a.offsets.end(), 0);
  a.columns.resize(static_cast<std::size_t>(n));
  std::iota(a.columns.begin(), a.columns.end(), 0);
  a.values.assign(static_cast<std::size_t>(n), 2.0);
  auto const at = stretches(n, 2, Deal::even);
  on_all(2, [&](Context& ctx, int) {
    std::string const said = words_of<Unsupported>([&] {
      LinearSolver(ctx, SolverOptions::from_yaml("preconditioner: {type: direct}\n"))
          .set_matrix(deal_rows(ctx, a, at));
    });
    EXPECT_NE(said.find("for at most 2000000 rows; this matrix has 2000001"), std::string::npos)
        << said;
  });
}

/// As files have them: each rank takes its own entries. Those that a rank has alone are its own.
TEST_P(RanksWhole, AVectorOfANullspaceMayBeThatOfAllRows) {
  Index const n = 60;
  Column z(n);
  for (Index i = 0; i < n; ++i) z[i] = 1 + i % 3;
  z.normalize();
  Matrix const P = Matrix::Identity(n, n) - z * z.transpose(), dense = P * laplace(n) * P;
  Csr<double> const a = csr(dense);
  Column const b = P * random_column(n, 5);
  for (int const count : counts())
    for (bool const whole : {true, false}) {
      auto const at = stretches(n, count, Deal::uneven);
      Column x = Column::Zero(n);
      on_all(count, [&](Context& ctx, int r) {
        SolverOptions options = SolverOptions::from_yaml("solver: {type: cg, rtol: 1.0e-9}\n");
        auto const mine = part(z, at, r);
        options.nullspace.vectors = {whole ? std::vector<double>(z.data(), z.data() + n)
                                           : std::vector<double>(mine.begin(), mine.end())};
        LinearSolver solver(ctx, options);
        solver.set_matrix(deal_rows(ctx, a, at));
        EXPECT_TRUE(solver.solve(part(b, at, r), part(x, at, r)).converged());
      });
      EXPECT_LE((dense * x - b).norm(), 1.1e-9 * b.norm());
      EXPECT_NEAR(x.dot(z), 0, 1e-10 * x.norm());
    }
}

}  // namespace
}  // namespace tcsolve::test
