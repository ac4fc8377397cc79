// SPDX-License-Identifier: Apache-2.0
/// fsai and spai whose rows several ranks have: the M of one rank, entry by entry but for rounding.
#include <tests/ranks/ranks.hpp>
#include <tests/support/each_backend.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

class RanksInverses : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    TCSOLVE_SKIP_IF_ABSENT(GetParam());
    std::string why;
    if (GetParam() == Backend::cuda && !cuda::available(why, 1))
      GTEST_SKIP() << "two devices: " << why;
  }
  std::vector<int> counts() const {
    return GetParam() == Backend::cuda ? std::vector{2} : std::vector{2, 3, 4};
  }
};
TCSOLVE_ON_EACH_BACKEND(RanksInverses);

std::string options(std::string const& M) {
  return cat("solver: {type: gmres}\npreconditioner: {type: ", M, "}\n");
}

/// alpha op(M) x
Column applied(Context& ctx, OperatorPtr<double> const& M, Column const& x, Op op) {
  Array<double> const in = to_space(ctx, x.data(), static_cast<std::size_t>(x.size()));
  Array<double> out(ctx.space(), in.size());
  M->apply(ctx, 2.0, in.view(), 0.0, out.view(), op);
  std::vector<double> const there = to_host(ctx, out);
  return Eigen::Map<Column const>(there.data(), x.size());
}

void expect_that_of_one(Csr<double> const& a, std::string const& M, std::vector<int> const& counts,
                        Backend backend, double slack = 1e-12) {
  SCOPED_TRACE(M);
  Column const x = random_column(a.rows, 5);
  Context one(backend, {.threads = 1});
  LinearSolver whole = LinearSolver::from_yaml(one, a.view(), options(M));
  Column const y = applied(one, whole.M(), x, Op::none),
               z = applied(one, whole.M(), x, Op::transpose);
  std::string const details = whole.M()->details();
  for (int const count : counts)
    for (Deal const deal : {Deal::even, Deal::some_empty}) {
      auto const at = stretches(a.rows, count, deal);
      Column ys = Column::Zero(a.rows), zs = ys;
      on_ranks(
          count,
          [&](Context& ctx, int r) {
            LinearSolver solver(ctx, SolverOptions::from_yaml(options(M)));
            solver.set_matrix(deal_rows(ctx, a, at));
            Index const n = at[r + 1] - at[r];
            Column const mine = x.segment(at[r], n);
            ys.segment(at[r], n) = applied(ctx, solver.M(), mine, Op::none);
            zs.segment(at[r], n) = applied(ctx, solver.M(), mine, Op::transpose);
            EXPECT_EQ(solver.M()->details(), details);
          },
          20, backend);
      EXPECT_LE((ys - y).norm(), slack * y.norm()) << count;
      EXPECT_LE((zs - z).norm(), slack * z.norm()) << count;
    }
}

TEST_P(RanksInverses, FsaiIsThatOfOneRank) {
  Csr<double> const a = spd();
  for (std::string const M : {"fsai", "fsai, power: 3", "fsai, tolerance: 0.2", "fsai, most: 3",
                              "fsai, steps: 3, step_size: 2"})
    expect_that_of_one(a, M, counts(), GetParam());
  // Own entries are rounded, those of others' columns are not.
  expect_that_of_one(a, "fsai, values: fp32", counts(), GetParam(), 1e-6);
}

/// A full row and column, so that everything is within two layers of everything.
TEST_P(RanksInverses, AFullRowIsThatOfOneRank) {
  Index const n = 60;
  Matrix dense = 4 * laplace(n);
  for (Index i = 0; i < n; ++i)
    if (i != n / 2) dense(n / 2, i) = dense(i, n / 2) = 0.1 * uniform(3, std::uint64_t(i));
  for (std::string const M :
       {"fsai", "fsai, power: 2, most: 8", "fsai, steps: 2", "spai", "spai, most: 8"})
    expect_that_of_one(csr(dense), M, counts(), GetParam());
}

TEST_P(RanksInverses, SpaiIsThatOfOneRank) {
  Matrix dense = to_dense(spd());
  for (Index i = 0; i + 7 < dense.rows(); i += 3) dense(i, i + 7) = 0.5;  // no symmetric pattern
  for (std::string const M : {"spai", "spai, level: 0", "spai, most: 4"})
    expect_that_of_one(csr(dense), M, counts(), GetParam());
  expect_that_of_one(csr(dense), "spai, values: fp32", counts(), GetParam(), 1e-6);
}

TEST_P(RanksInverses, SolvesTakeTheIterationsOfOneRank) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const M : {"fsai", "spai", "chebyshev, preconditioner: {type: fsai}"}) {
    SCOPED_TRACE(M);
    std::string const yaml = cat("solver: {type: ", M == "spai" ? "gmres" : "cg",
                                 ", rtol: 1.0e-9}\npreconditioner: {type: ", M, "}\n");
    expect_alike(by_ranks(2, Deal::uneven, a, b, yaml, GetParam()), by_one(a, b, yaml), 0);
  }
}

/// A row that is not definite is named by the rank that has it, in the numbers of the matrix.
TEST_P(RanksInverses, ARowThatIsNotDefiniteIsNamed) {
  Matrix dense = laplace(40);
  dense(33, 33) = -1;
  auto const at = stretches(40, 2, Deal::even);
  on_ranks(
      2,
      [&](Context& ctx, int r) {
        std::string const said = words_of<Error>([&] {
          LinearSolver(ctx, SolverOptions::from_yaml(options("fsai")))
              .set_matrix(deal_rows(ctx, csr(dense), at));
        });
        EXPECT_NE(said.find(cat(r == 1 ? "" : "rank 1: ", "fsai: the rows that row 14 is made of")),
                  std::string::npos)
            << said;
        if (r == 1) EXPECT_NE(said.find("row 1 there is row 21"), std::string::npos) << said;
      },
      20, GetParam());
}

}  // namespace
}  // namespace tcsolve::test
