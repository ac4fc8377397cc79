// SPDX-License-Identifier: Apache-2.0
/// Ranks that compute on devices, each with its own where there are as many. Where there is one
/// they share it, which only tests may: a kernel of one then waits beside those of the other.
#include <chrono>
#include <cstdlib>

#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/reductions.hpp>

#include <tcsolve/core/timed.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

/// On a device that ranks share a kernel that is loaded at its first launch would wait for all that
/// run there, and they for it.
struct LoadAtOnce {
  LoadAtOnce() {
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  }
} const load_at_once;

constexpr double timeout = 20;

class GpuRanks : public testing::Test {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(Backend::cuda); }
};

Column of_rank(Column const& v, std::vector<Index> const& at, int r) {
  return v.segment(at[r], at[r + 1] - at[r]);
}

TEST_F(GpuRanks, ProductsAndTransposesAreThoseOfTheWhole) {
  Index const n = 3000;
  Csr<double> const a = generate(ConvdiffParams{.n = 14});
  ASSERT_LE(a.rows, n);
  Column const x = random_column(a.rows, 1), y0 = random_column(a.rows, 2);
  for (auto const& [ranks, deal] :
       {std::pair{2, Deal::even}, {2, Deal::some_empty}, {3, Deal::uneven}}) {
    SCOPED_TRACE(ranks);
    auto const at = stretches(a.rows, ranks, deal);
    Column y = y0, t = y0;
    on_ranks(
        ranks,
        [&](Context& ctx, int r) {
          auto const op = operator_of(ctx, deal_rows(ctx, a, at));
          Column const mine = of_rank(x, at, r), before = of_rank(y0, at, r);
          auto const rows = static_cast<Index>(mine.size());
          Array<double> in = to_space(ctx, mine.data(), mine.size()),
                        out = to_space(ctx, before.data(), before.size()),
                        back = to_space(ctx, before.data(), before.size());
          auto const view = [&](Array<double>& v) {
            return vector_view(v.data(), rows, ctx.space());
          };
          for (int k = 0; k < 3; ++k)  // both sets of what comes, and one again
            op->apply(ctx, k == 2 ? -0.5 : 1.0, view(in), k == 2 ? 2.0 : 0.0,
                      k == 2 ? view(out) : view(back));
          op->apply(ctx, 3.0, view(in), 0.0, view(back), Op::transpose);
          std::vector<double> const made = to_host(ctx, out), turned = to_host(ctx, back);
          std::copy(made.begin(), made.end(), y.data() + at[r]);
          std::copy(turned.begin(), turned.end(), t.data() + at[r]);
        },
        timeout, Backend::cuda);
    Matrix const A = to_dense(a);
    EXPECT_LE((y - (2 * y0 - 0.5 * A * x)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((t - 3 * A.transpose() * x).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST_F(GpuRanks, SumsAreOfAllRanksWithTheSameBits) {
  for (Index const n : {5, 1000, 300000}) {
    auto const at = stretches(n, 2, Deal::uneven);
    Column const x = random_column(n, 1), y = random_column(n, 2);
    std::vector<double> dots(2), norms(2);
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          Column const u = of_rank(x, at, r), v = of_rank(y, at, r);
          auto const rows = static_cast<Index>(u.size());
          Array<double> a = to_space(ctx, u.data(), u.size()),
                        b = to_space(ctx, v.data(), v.size());
          for (int again = 0; again < 50; ++again) {
            Array<double> value(ctx.space(), 1);
            dot<double>(ctx, vector_view(a.data(), rows, ctx.space()),
                        vector_view(b.data(), rows, ctx.space()), value.data());
            double const s = to_host(ctx, value).front();
            if (again > 0) ASSERT_TRUE(same_bits(s, dots[r]));
            dots[r] = s;
          }
          norms[r] = norm<double>(ctx, vector_view(a.data(), rows, ctx.space()));
        },
        timeout, Backend::cuda);
    EXPECT_TRUE(same_bits(dots[0], dots[1]));
    EXPECT_TRUE(same_bits(norms[0], norms[1]));
    EXPECT_NEAR(dots[0], x.dot(y), 1e-12 * x.norm() * y.norm());
    EXPECT_NEAR(norms[0], x.norm(), 1e-13 * x.norm());
  }
}

TEST_F(GpuRanks, GramMatricesAreOfAllRanks) {
  Index const n = 400;
  for (Index const k : {2, 16, 40}) {  // more sums than one exchange has
    Matrix const X = random_matrix(n, k, 6), Y = random_matrix(n, k, 7);
    Matrix const G = X.transpose() * Y;
    auto const at = stretches(n, 2, Deal::uneven);
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          Index const m = at[r + 1] - at[r];
          using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
          RowMajor const x = X.middleRows(at[r], m), y = Y.middleRows(at[r], m);
          Array<double> a = to_space(ctx, x.data(), x.size()),
                        b = to_space(ctx, y.data(), y.size()),
                        c(ctx.space(), static_cast<std::size_t>(k) * k);
          auto const view = [&](Array<double>& v) {
            return Out<double>{v.data(), m, k, k, Layout::row_major, ctx.space()};
          };
          gram(ctx, view(a), view(b), c.data());
          std::vector<double> const made = to_host(ctx, c);
          for (Index i = 0; i < k * k; ++i) ASSERT_NEAR(made[i], G(i / k, i % k), 1e-12);
        },
        timeout, Backend::cuda);
  }
}

std::string config(std::string const& method, std::string const& execution,
                   std::string const& M = "jacobi") {
  return cat("solver: {type: ", method, ", rtol: 1.0e-9, max_iters: 20000, execution: ", execution,
             "}\npreconditioner: {type: ", M, "}\n");
}

TEST_F(GpuRanks, EveryMethodSolvesAsOneRankDoes) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const method : {"cg", "chronopoulos_gear", "pipelined_cg", "minres", "bicgstab",
                                   "gmres", "fgmres", "deflated_cg", "lsmr"}) {
    bool const lsmr = method == "lsmr";
    std::string const M = lsmr ? "none" : "jacobi";
    Solved const one = by_one(a, b, config(method, "eager", M));
    for (std::string const execution : {"eager", "graph"})
      for (int ranks : {2, 3}) {
        SCOPED_TRACE(method + " " + execution + " " + std::to_string(ranks));
        expect_alike(by_ranks(ranks, ranks == 3 ? Deal::some_empty : Deal::uneven, a, b,
                              config(method, execution, M), Backend::cuda),
                     one, lsmr || method == "bicgstab" ? 0.15 : 0.03);
      }
  }
}

TEST_F(GpuRanks, TheSameBitsInEveryRunAndExecution) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  Solved const first = by_ranks(2, Deal::uneven, a, b, config("cg", "eager"), Backend::cuda);
  for (int run = 0; run < 10; ++run) {
    Solved const again =
        by_ranks(2, Deal::uneven, a, b, config("cg", run % 2 ? "eager" : "graph"), Backend::cuda);
    ASSERT_EQ(again.x, first.x);
    ASSERT_TRUE(same_bits(again.report.true_residual, first.report.true_residual));
  }
}

TEST_F(GpuRanks, Preconditioners) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const M : {"none", "block_jacobi, block: 4", "chebyshev, degree: 3",
                              "solver, solver: {type: gmres, max_iters: 5}"}) {
    SCOPED_TRACE(M);
    expect_alike(by_ranks(2, Deal::even, a, b, config("fgmres", "auto", M), Backend::cuda),
                 by_one(a, b, config("fgmres", "auto", M)), 0.1);
  }
  std::string const schwarz = "schwarz, parts: ranks, overlap: 1, inside: {type: ic}";
  Solved const on_devices =
      by_ranks(2, Deal::even, a, b, config("cg", "auto", schwarz), Backend::cuda);
  expect_alike(on_devices, by_ranks(2, Deal::even, a, b, config("cg", "auto", schwarz)));
}

TEST_F(GpuRanks, RowsInOwnColumnsMayHaveAnyFormat) {
  Csr<double> const a = spd();
  Column const b = random_column(a.rows, 5);
  for (std::string const& format : solver_registries().operators.names())
    for (std::string const values : {"fp64", "fp32"}) {
      SCOPED_TRACE(format + " " + values);
      std::string const yaml =
          cat(config("cg", "auto"), "operator: {format: ", format, ", values: ", values, "}\n");
      expect_alike(by_ranks(2, Deal::even, a, b, yaml, Backend::cuda), by_one(a, b, yaml), 0.1);
    }
}

TEST_F(GpuRanks, BlockMethods) {
  Csr<double> const a = spd();
  Index const n = a.rows, k = 3;
  Matrix const B = random_matrix(n, k, 8);
  auto const at = stretches(n, 2, Deal::uneven);
  for (std::string const method : {"block_cg", "pseudo_block_cg", "pseudo_block_gmres"}) {
    SCOPED_TRACE(method);
    Matrix X = Matrix::Zero(n, k);
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          LinearSolver solver(ctx, SolverOptions::from_yaml(config(method, "auto")));
          solver.set_matrix(deal_rows(ctx, a, at));
          Index const m = at[r + 1] - at[r];
          Matrix b = B.middleRows(at[r], m), x = Matrix::Zero(m, k);
          auto const reports = solver.solve_columns({b.data(), m, k, m, Layout::col_major},
                                                    {x.data(), m, k, m, Layout::col_major});
          for (SolveReport const& report : reports)
            EXPECT_TRUE(report.converged()) << report.message;
          X.middleRows(at[r], m) = x;
        },
        timeout, Backend::cuda);
    for (Index j = 0; j < k; ++j)
      EXPECT_LE((to_dense(a) * X.col(j) - B.col(j)).norm(), 1.01e-9 * B.col(j).norm());
  }
}

/// One that is asked alone ends all, at the same step.
TEST_F(GpuRanks, WhoIsAskedToEndEndsAll) {
  Csr<double> const a = generate(Poisson7Params{.n = 30, .coefficient = Coefficient::random});
  auto const at = stretches(a.rows, 2, Deal::even);
  for (std::string const execution : {"eager", "graph"}) {
    std::vector<SolveReport> reports(2);
    on_ranks(
        2,
        [&](Context& ctx, int r) {
          LinearSolver solver(ctx, SolverOptions::from_yaml(cat(
                                       "solver: {type: cg, rtol: 1.0e-300, max_iters: ",
                                       "100000000, stagnation_window: 0, execution: ", execution,
                                       "}\npreconditioner: {type: jacobi}\n")));
          solver.set_matrix(deal_rows(ctx, a, at));
          std::vector<double> b(at[r + 1] - at[r], 1.0), x(b.size());
          SolveCall call;
          if (r == 1) call.time_limit = 0.3;
          reports[r] = solver.solve(vector_view(b.data(), at[r + 1] - at[r]).operator In<double>(),
                                    vector_view(x.data(), at[r + 1] - at[r]), call);
        },
        timeout, Backend::cuda);
    EXPECT_EQ(reports[0].outcome(), reports[1].outcome());
    EXPECT_EQ(reports[0].iterations, reports[1].iterations);
    EXPECT_LT(reports[0].seconds, 10);
  }
}

/// A rank that throws while the other's kernel waits for it: nobody waits for long.
TEST_F(GpuRanks, AFaultOfOneEndsTheWaitOfAll) {
  Csr<double> const a = spd();
  auto const at = stretches(a.rows, 2, Deal::even);
  std::vector<std::string> words(2);
  auto const started = std::chrono::steady_clock::now();
  EXPECT_THROW(on_ranks(
                   2,
                   [&](Context& ctx, int r) {
                     try {
                       auto const op = operator_of(ctx, deal_rows(ctx, a, at));
                       std::vector<double> const ones(at[r + 1] - at[r], 1.0);
                       Array<double> x = to_space(ctx, ones.data(), ones.size());
                       auto const v = vector_view(x.data(), at[r + 1] - at[r], ctx.space());
                       norm<double>(ctx, v);
                       if (r == 1) throw MatrixError("a fault");
                       norm<double>(ctx, v);
                     } catch (std::exception const& e) {
                       words[r] = e.what();
                       throw;
                     }
                   },
                   timeout, Backend::cuda),
               MatrixError);
  EXPECT_EQ(words[0], "rank 1: a fault");
  EXPECT_EQ(words[1], "a fault");
  EXPECT_LT(seconds_since(started), 10);
}

TEST_F(GpuRanks, OnOneDeviceAreRefused) {
  for (int again = 0; again < 2; ++again)
    EXPECT_THROW(run_threads(2,
                             [](Ranks& ranks) {
                               Context const ctx(Backend::cuda,
                                                 {.device = 0, .communicator = &ranks});
                             }),
                 Unsupported);
}

TEST_F(GpuRanks, NewValues) {
  Csr<double> const a = spd();
  Csr<double> c = a;
  for (double& v : c.values) v *= 2;
  Column const b = random_column(a.rows, 5);
  auto const at = stretches(a.rows, 2, Deal::even);
  Solved const expected = by_ranks(2, Deal::even, c, b, config("cg", "auto"), Backend::cuda);
  Column x = Column::Zero(a.rows);
  on_ranks(
      2,
      [&](Context& ctx, int r) {
        LinearSolver solver(ctx, SolverOptions::from_yaml(config("cg", "auto")));
        solver.set_matrix(deal_rows(ctx, a, at));
        auto const n = static_cast<std::size_t>(at[r + 1] - at[r]);
        std::span<double const> const mine(b.data() + at[r], n);
        std::span<double> const to(x.data() + at[r], n);
        solver.solve(mine, to);
        Rows64 const rows(c, at[r], at[r + 1]);
        solver.update_values(std::span<double const>(rows.values));
        std::ranges::fill(to, 0.0);
        EXPECT_TRUE(solver.solve(mine, to).converged());
      },
      timeout, Backend::cuda);
  EXPECT_EQ(x, expected.x);
}

}  // namespace
}  // namespace tcsolve::test
