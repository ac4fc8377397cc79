// SPDX-License-Identifier: Apache-2.0
/// Blocks of columns whose rows several ranks have: bases by Householder QR, and the methods that
/// are made of them, against one rank with all the rows.
#include <Eigen/QR>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/tsqr.hpp>

#include <tests/ranks/ranks.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Place {
  Backend backend;
  int ranks;
  Deal deal;
};
std::string label_of(testing::TestParamInfo<Place> const& info) {
  constexpr char const* deals[] = {"even", "uneven", "some_empty"};
  return cat(info.param.backend == Backend::host ? "host_" : "cuda_", info.param.ranks, "_",
             deals[int(info.param.deal)]);
}
class RanksBlocks : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::host) return;
    std::string why;
    for (int device = 0; device < GetParam().ranks; ++device)
      if (!cuda::available(why, device)) GTEST_SKIP() << why;
  }
  template <class F>
  void on_all(F const& f) {
    on_ranks(GetParam().ranks, f, 20, GetParam().backend);
  }
};
INSTANTIATE_TEST_SUITE_P(at, RanksBlocks,
                         testing::Values(Place{Backend::host, 2, Deal::even},
                                         Place{Backend::host, 3, Deal::uneven},
                                         Place{Backend::host, 4, Deal::some_empty},
                                         Place{Backend::cuda, 2, Deal::even},
                                         Place{Backend::cuda, 2, Deal::uneven}),
                         label_of);

/// Columns whose lengths and angles go down to 1e-7, one that is a sum of others, and zeros.
Block nearly_dependent(Index n, Index w) {
  Block W = random_matrix(n, w, 3);
  for (Index k = 1; k < w; ++k) W.col(k) = W.col(0) + std::pow(10.0, -(k % 8)) * W.col(k);
  if (w > 4) W.col(4) = W.col(1) - 2 * W.col(2), W.col(3).setZero();
  return W;
}

TEST_P(RanksBlocks, ABasisIsThatOfAllRows) {
  for (auto const& [n, columns] : {std::pair<Index, Index>{40, 1}, {400, 7}, {9, 7}, {3000, 20}}) {
    SCOPED_TRACE(cat(n, " x ", columns));
    Index const w = columns;
    Block const W = nearly_dependent(n, w);
    auto const at = stretches(n, GetParam().ranks, GetParam().deal);
    Block P = Block::Zero(n, columns);
    std::vector<double> rank(static_cast<std::size_t>(GetParam().ranks));
    on_all([&](Context& ctx, int r) {
      Index const m = at[r + 1] - at[r];
      Block const mine = W.middleRows(at[r], m);
      Array<double> const in = to_space(ctx, mine.data(), static_cast<std::size_t>(mine.size()));
      Array<double> out(ctx.space(), in.size()), found(ctx.space(), 1);
      In<double> const from{in.data(), m, w, w, Layout::row_major, ctx.space()};
      Out<double> const to{out.data(), m, w, w, Layout::row_major, ctx.space()};
      householder_basis(ctx, from, 1e-10, found.data(), to, nullptr);
      std::vector<double> const there = to_host(ctx, out);
      P.middleRows(at[r], m) = Eigen::Map<Block const>(there.data(), m, w);
      rank[static_cast<std::size_t>(r)] = to_host(ctx, found).front();
    });
    for (double const one : rank) EXPECT_EQ(one, rank.front());
    auto const kept = static_cast<Index>(rank.front());
    EXPECT_EQ(kept, columns > 4 ? columns - 2 : columns);
    Block const basis = P.leftCols(kept);
    EXPECT_EQ(P.rightCols(columns - kept), Block::Zero(n, columns - kept));
    EXPECT_LE((basis.transpose() * basis - Block::Identity(kept, kept)).norm(), 1e-14 * columns);
    EXPECT_LE((W - basis * (basis.transpose() * W)).norm(), 1e-9 * W.norm());
  }
}

/// Columns that are nearly one another, so that bases come of Householder QR.
TEST_P(RanksBlocks, MethodsTakeTheIterationsOfOneRank) {
  Csr<double> const a = spd();
  Index const n = a.rows, k = 4;
  Matrix B = random_matrix(n, k, 8);
  B.col(1) = B.col(0) + 1e-7 * B.col(1);
  B.col(3) = B.col(2);
  auto const at = stretches(n, GetParam().ranks, GetParam().deal);
  for (std::string const method : {"block_cg", "block_gmres"}) {
    SCOPED_TRACE(method);
    auto const options = SolverOptions::from_yaml(
        cat("solver: {type: ", method, ", rtol: 1.0e-9}\npreconditioner: {type: jacobi}\n"));
    auto const solved = [&](LinearSolver& solver, Matrix const& b, Matrix& x) {
      auto const m = static_cast<Index>(b.rows());
      return solver.solve_columns({b.data(), m, k, m, Layout::col_major},
                                  {x.data(), m, k, m, Layout::col_major});
    };
    Context one(GetParam().backend, {.threads = 1});
    LinearSolver whole(one, options);
    whole.set_matrix(a.view());
    Matrix X = Matrix::Zero(n, k), Y = X;
    auto const expected = solved(whole, B, X);
    on_all([&](Context& ctx, int r) {
      LinearSolver solver(ctx, options);
      solver.set_matrix(deal_rows(ctx, a, at));
      Index const m = at[r + 1] - at[r];
      Matrix const b = B.middleRows(at[r], m);
      Matrix y = Matrix::Zero(m, k);
      auto const reports = solved(solver, b, y);
      for (std::size_t j = 0; j < reports.size(); ++j) {
        EXPECT_TRUE(reports[j].converged()) << reports[j].message;
        EXPECT_NEAR(reports[j].iterations, expected[j].iterations, 2);
      }
      Y.middleRows(at[r], m) = y;
    });
    for (Index j = 0; j < k; ++j) {
      EXPECT_TRUE(expected[j].converged()) << expected[j].message;
      EXPECT_LE((to_dense(a) * Y.col(j) - B.col(j)).norm(), 1.01e-9 * B.col(j).norm());
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
