// SPDX-License-Identifier: Apache-2.0
/// Many systems at once: each solved, judged and reported as if it were alone, whatever its
/// neighbours do.
#include <limits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/driver/batch.hpp>

#include <tests/support/each_backend.hpp>

namespace tcsolve::test {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Batches : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(Batches);

struct Answer {
  BatchReport report;
  Column x;
};

Answer solve_batch(Context& ctx, CsrBatch const& systems, std::string const& method,
                   Column const& b, Column const& guess, StoppingParams const& stopping = {},
                   PreconditionerFactory const* preconditioner = nullptr, int restart = 30) {
  BatchSolver solver(make_solver(method, stopping, Execution::automatic, restart));
  solver.setup(ctx, systems.matrix.view(), systems.starts, preconditioner);
  Answer out{{}, guess};
  Index n = systems.matrix.rows;
  out.report = solver.solve(vector_view<double const>(b.data(), n, Space::host),
                            vector_view(out.x.data(), n, Space::host));
  return out;
}

/// ||b - A x|| of system k, in extended precision.
double residual_of(CsrBatch const& s, Index k, Column const& b, Column const& x) {
  long double sum = 0;
  for (Index i = s.starts[k]; i < s.starts[k + 1]; ++i) {
    long double r = b[i];
    for (Offset e = s.matrix.offsets[i]; e < s.matrix.offsets[i + 1]; ++e)
      r -= static_cast<long double>(s.matrix.values[e]) * x[s.matrix.columns[e]];
    sum += r * r;
  }
  return static_cast<double>(std::sqrt(sum));
}

std::vector<Csr<double>> symmetric_systems() {
  auto random = Coefficient::random;
  return {Csr<double>{1, 1, {0, 1}, {0}, {3}},
          csr(laplace(7)),
          csr(random_spd(33, 2, 5)),
          generate(Poisson7Params{.n = 5, .coefficient = random}),
          generate(Poisson27Params{.n = 9, .coefficient = random}),
          csr(laplace(64)),
          generate(Poisson7Params{.n = 13, .coefficient = random}),
          generate(Poisson27Params{.n = 14, .coefficient = random})};
}

std::vector<Csr<double>> general_systems() {
  auto all = symmetric_systems();
  all.push_back(generate(ConvdiffParams{.n = 8}));
  all.push_back(csr(random_matrix(20, 20, 3) + 8 * Matrix::Identity(20, 20)));
  return all;
}

TEST_P(Batches, SolveEachSystemAsIfItWereAlone) {
  for (std::string const& method : methods("cg bicgstab gmres"))
    for (bool jacobi : {false, true}) {
      auto systems = method == "cg" ? symmetric_systems() : general_systems();
      CsrBatch batch = batch_of(systems);
      Column b = random_column(batch.matrix.rows, 71);
      Column guess = 0.1 * random_column(batch.matrix.rows, 72);
      JacobiFactory factory;
      Answer all = solve_batch(ctx(), batch, method, b, guess, {}, jacobi ? &factory : nullptr);
      ASSERT_EQ(all.report.count(), Index(systems.size()));
      for (Index k = 0; k < batch.count(); ++k) {
        SCOPED_TRACE(cat(method, jacobi ? ", jacobi, system " : ", system ", k));
        SolveReport r = all.report.of(k);
        EXPECT_TRUE(r.converged()) << r.message;
        double residual = residual_of(batch, k, b, all.x);
        Index first = batch.starts[k], n = batch.starts[k + 1] - first;
        EXPECT_LE(residual, 1e-8 * b.segment(first, n).norm() * (1 + 1e-6));
        EXPECT_NEAR(r.true_residual, residual, 1e-3 * r.tolerance);
        EXPECT_NEAR(r.rhs_norm, b.segment(first, n).norm(), 1e-12 * r.rhs_norm);
        // The same method alone: the same path, up to the order of sums.
        Context& c = ctx();
        auto alone = make_solver(method, {});
        auto A = std::make_shared<CsrOperator<double>>(c, systems[k].view());
        alone->setup(c, A, jacobi ? std::make_shared<Jacobi<double>>(c, A->view()) : nullptr);
        Column x = guess.segment(first, n);
        SolveReport one = solve(*alone, b.segment(first, n), x);
        double slack = method == "bicgstab" ? 0.3 : 0.05;
        EXPECT_NEAR(r.iterations, one.iterations, 1 + slack * one.iterations);
        EXPECT_LE((all.x.segment(first, n) - x).norm(), 1e-5 * x.norm());
        EXPECT_NEAR(r.initial_residual, one.initial_residual, 1e-12 * one.initial_residual);
      }
    }
}

// What happens to one system, by the name a solver of its own gives it, between two that are sound.
TEST_P(Batches, FailWithTheVerdictOfASolverOfItsOwn) {
  struct Trouble {
    std::string name, method;
    Matrix a;
    Column b, x;
  };
  Index const n = 12;
  Column one = Column::Ones(n), zero = Column::Zero(n);
  auto with = [](Column v, Index i, double value) {
    v[i] = value;
    return v;
  };
  Matrix indefinite = diagonal({3, 2, 1, -1, 5, 6, 7, 8, 9, 10, 11, 12});
  Matrix broken = laplace(n);
  broken(4, 4) = nan;
  Matrix huge = 1e300 * laplace(n);
  std::vector<Trouble> const cases{
      {"zero rhs", "cg", laplace(n), zero, one},
      {"exact guess", "cg", laplace(n), laplace(n) * one, one},
      {"NaN in b", "cg", laplace(n), with(one, 3, nan), zero},
      {"Inf in b", "gmres", laplace(n), with(one, 3, HUGE_VAL), zero},
      {"NaN in the guess", "bicgstab", laplace(n), one, with(zero, 0, nan)},
      {"NaN in A", "cg", broken, one, zero},
      {"NaN in A", "gmres", broken, one, zero},
      {"indefinite", "cg", indefinite, one, zero},
      {"singular, inconsistent", "cg", path_laplacian(n), with(zero, 0, 1), zero},
      {"singular, consistent", "cg", path_laplacian(n), path_laplacian(n) * random_column(n, 4),
       zero},
      {"singular, inconsistent", "gmres", path_laplacian(n), with(zero, 0, 1), zero},
      {"a cyclic shift", "bicgstab", cyclic_shift(n), with(zero, 0, 1), zero},
      {"a cyclic shift", "gmres", cyclic_shift(n), with(zero, 0, 1), zero},
      {"tiny b", "cg", laplace(n), 1e-290 * one, zero},
      {"huge b", "cg", laplace(n), 1e290 * one, zero},
      {"no matrix", "gmres", Matrix::Zero(n, n), one, zero},
  };
  for (Trouble const& t : cases) {
    SCOPED_TRACE(cat(t.name, ", ", t.method));
    std::vector<Csr<double>> systems{csr(laplace(9)), csr(t.a), csr(laplace(20))};
    CsrBatch batch = batch_of(systems);
    Column b = Column::Ones(batch.matrix.rows), x = Column::Zero(batch.matrix.rows);
    b.segment(9, n) = t.b;
    x.segment(9, n) = t.x;
    StoppingParams stopping{.max_iters = 200};
    Answer all = solve_batch(ctx(), batch, t.method, b, x, stopping);
    auto alone = make_solver(t.method, stopping);
    alone->setup(ctx(), std::make_shared<CsrOperator<double>>(ctx(), systems[1].view()));
    Column own = t.x;
    SolveReport expected = solve(*alone, t.b, own);
    SolveReport r = all.report.of(1);
    EXPECT_EQ(r.outcome(), expected.outcome()) << r.message << "\n" << expected.message;
    EXPECT_EQ(r.cause, expected.cause);
    EXPECT_EQ(std::isnan(r.true_residual), std::isnan(expected.true_residual));
    if (expected.converged()) { EXPECT_LE((all.x.segment(9, n) - own).norm(), 1e-6 * own.norm()); }
    for (Index k : {0, 2}) {
      EXPECT_TRUE(all.report.of(k).converged()) << all.report.of(k).message;
      EXPECT_LE(residual_of(batch, k, b, all.x), 1.001 * all.report.systems[k].tolerance);
    }
    EXPECT_EQ(all.report.worst() == 1, !expected.converged() || expected.iterations > 10)
        << all.report.worst();
  }
}

TEST_P(Batches, GiveASystemTheSameBitsWhateverItsNeighbours) {
  auto systems = symmetric_systems();
  CsrBatch batch = batch_of(systems);
  Column b = random_column(batch.matrix.rows, 9), zero = Column::Zero(batch.matrix.rows);
  for (std::string const& method : methods("cg bicgstab gmres")) {
    Answer together = solve_batch(ctx(), batch, method, b, zero);
    // Twice the largest system last: the layout of a team stays as it is.
    std::vector<Csr<double>> fewer{systems[4], systems[7]};
    CsrBatch pair = batch_of(fewer);
    Index n4 = systems[4].rows, n7 = systems[7].rows;
    Column b2(n4 + n7);
    b2 << b.segment(batch.starts[4], n4), b.segment(batch.starts[7], n7);
    Answer apart = solve_batch(ctx(), pair, method, b2, Column::Zero(n4 + n7));
    EXPECT_TRUE(apart.x.head(n4) == together.x.segment(batch.starts[4], n4)) << method;
    EXPECT_TRUE(apart.x.tail(n7) == together.x.segment(batch.starts[7], n7)) << method;
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(solve_batch(ctx(), batch, method, b, zero).x == together.x) << method;
  }
}

TEST_P(Batches, TakeMoreSystemsThanRunAtOnce) {
  Csr<double> pattern = generate(Poisson7Params{.n = 4});
  int const count = 3000;
  std::vector<double> values;
  for (int k = 0; k < count; ++k)
    for (double v : pattern.values) values.push_back(v * (1 + k % 7));
  CsrBatch batch = batch_of(pattern.view(), values);
  ASSERT_EQ(batch.count(), count);
  Column b = Column::Ones(batch.matrix.rows);
  JacobiFactory jacobi;
  Answer all = solve_batch(ctx(), batch, "cg", b, Column::Zero(b.size()), {}, &jacobi);
  EXPECT_EQ(all.report.converged(), count);
  // System k is system 0 over 1 + k % 7.
  Index n = pattern.rows;
  for (int k = 0; k < count; ++k)
    ASSERT_LE((all.x.segment(k * n, n) * (1 + k % 7) - all.x.head(n)).norm(),
              1e-7 * all.x.head(n).norm())
        << k;
}

TEST_P(Batches, HoldMatricesThatExceedAnyCache) {
  auto random = Coefficient::random;
  std::vector<Csr<double>> systems{generate(Poisson27Params{.n = 26, .coefficient = random}),
                                   generate(Poisson7Params{.n = 40, .coefficient = random}),
                                   csr(laplace(5))};
  CsrBatch batch = batch_of(systems);
  Column b = random_column(batch.matrix.rows, 3);
  for (std::string const& method : methods("cg gmres")) {
    Answer all = solve_batch(ctx(), batch, method, b, Column::Zero(b.size()));
    EXPECT_EQ(all.report.converged(), 3) << all.report.of(all.report.worst()).message;
    for (Index k = 0; k < 3; ++k)
      EXPECT_LE(residual_of(batch, k, b, all.x), 1.001 * all.report.systems[k].tolerance);
  }
}

TEST_P(Batches, TakeBlockJacobiWhoseBlocksEndWithTheSystems) {
  std::vector<Csr<double>> systems{csr(random_spd(12, 3, 1)), csr(random_spd(20, 3, 2))};
  CsrBatch batch = batch_of(systems);
  Column b = random_column(32, 3);
  BlockJacobiFactory four({.block = 4}), five({.block = 5});
  Answer all = solve_batch(ctx(), batch, "cg", b, Column::Zero(32), {}, &four);
  EXPECT_EQ(all.report.converged(), 2);
  EXPECT_THROW(solve_batch(ctx(), batch, "cg", b, Column::Zero(32), {}, &five), Unsupported);
}

TEST_P(Batches, RefuseWhatIsNoBatch) {
  CsrBatch good = batch_of(std::vector{csr(laplace(3)), csr(laplace(4))});
  Column b = Column::Ones(7);
  CsrBatch coupled = good;
  coupled.starts = {0, 4, 7};
  EXPECT_THROW(solve_batch(ctx(), coupled, "cg", b, b), MatrixError);
  for (std::vector<Index> const& starts :
       {std::vector<Index>{}, {0}, {0, 3}, {1, 7}, {0, 5, 3, 7}, {0, 3, 8}}) {
    CsrBatch wrong = good;
    wrong.starts = starts;
    EXPECT_THROW(solve_batch(ctx(), wrong, "cg", b, b), ShapeError);
  }
  for (char const* method : {"minres", "lsmr", "fgmres", "pipelined_cg", "chronopoulos_gear"})
    EXPECT_THROW(BatchSolver(make_solver(method, {})), Unsupported) << method;
  EXPECT_THROW(solve_batch(ctx(), good, "gmres", b, b, {}, nullptr, 64), Unsupported);
  EXPECT_THROW(batch_of(std::vector{csr(random_matrix(2, 3, 1))}), ShapeError);
  BatchSolver solver(make_solver("cg", {}));
  EXPECT_THROW(solver.solve(vector_view<double const>(b.data(), 7, Space::host),
                            vector_view(b.data(), 7, Space::host)),
               ShapeError);
  // No system at all, and systems without rows, are no fault.
  CsrBatch none;
  EXPECT_EQ(solve_batch(ctx(), none, "cg", Column(), Column()).report.count(), 0);
  CsrBatch hollow = good;
  hollow.starts = {0, 0, 3, 3, 7, 7};
  Answer all = solve_batch(ctx(), hollow, "cg", b, Column::Zero(7));
  EXPECT_EQ(all.report.converged(), 5);
}

TEST_P(Batches, EndWhenAskedTo) {
  std::vector<Csr<double>> systems(40, generate(Poisson7Params{.n = 8}));
  CsrBatch batch = batch_of(systems);
  Column b = Column::Ones(batch.matrix.rows);
  StoppingParams endless{.rtol = 0, .atol = 1e-300, .max_iters = 1000000000, .time_limit = 0.2};
  endless.stagnation_window = 0;
  Answer all = solve_batch(ctx(), batch, "cg", b, Column::Zero(b.size()), endless);
  EXPECT_LT(all.report.seconds, 5);
  for (Index k = 0; k < 40; ++k) EXPECT_FALSE(all.report.of(k).converged());
  ctx().cancel();
  all = solve_batch(ctx(), batch, "cg", b, Column::Zero(b.size()), {.time_limit = 1000});
  ctx().clear_cancel();
  for (Index k = 0; k < 40; ++k) {
    Stop reason = all.report.of(k).reason;
    EXPECT_TRUE(reason == Stop::cancelled || reason == Stop::converged);
  }
}

TEST(Squares, NeitherOverflowNorUnderflow) {
  for (double scale : {1e-320, 1e-300, 1e-160, 1e-145, 1.0, 1e145, 1e160, 1e300})
    for (double other : {0.0, 1e-310, 1e-150, 1.0, 1e150}) {
      double sum[3] = {};
      long double exact = 0;
      for (double v : {3 * scale, -4 * scale, other, 0.0}) {
        Squares::add(sum, v);
        exact += static_cast<long double>(v) * v;
      }
      double want = static_cast<double>(std::sqrt(exact));
      EXPECT_NEAR(Squares::norm(sum), want, 4e-16 * want + 1e-323) << scale << " " << other;
    }
  double sum[3] = {};
  Squares::add(sum, nan);
  EXPECT_TRUE(std::isnan(Squares::norm(sum)));
  double infinite[3] = {};
  Squares::add(infinite, -HUGE_VAL);
  EXPECT_EQ(Squares::norm(infinite), HUGE_VAL);
  EXPECT_FALSE(Squares::finite(infinite));
}

}  // namespace

}  // namespace tcsolve::test
